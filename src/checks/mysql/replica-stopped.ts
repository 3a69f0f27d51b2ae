import type { Check, Fault } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';
import { applierAdvice, receiverAdvice } from './replica-errors.ts';
import {
  type Replication,
  replicaPrivilege,
  replicaSettings,
  replicaSql,
  replicationsIn,
} from './replica-status.ts';

/** Sources that a replica no longer replicates from: its data become stale. */
export const replicaStopped: Check = {
  id: 'MY_REPLICA_STOPPED',
  title: 'Replication has stopped',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  privilege: replicaPrivilege,
  sql: replicaSql,
  judge: (rows, { version }) => {
    replicaSettings(rows);
    const replications = replicationsIn(rows, version);
    const faults = replications.flatMap((one) => fault(one, version) ?? []);
    return {
      passMessage:
        replications.length === 0
          ? 'This server is not a replica.'
          : `The replica replicates from ${counted(replications.length, 'source')}.`,
      faults: faults.slice(0, FAULT_LIMIT),
      measures: replications.length === 0 ? [] : [countOf('stopped_replications_count', faults.length)],
      truncated: faults.length > FAULT_LIMIT,
    };
  },
};

function fault(one: Replication, version: number): Fault | null {
  if (one.applier === 'Yes' && one.receiver === 'Yes') return null;
  const { metricLine, remediation } =
    one.applier === 'Yes' ? receiverAdvice(one, version) : applierAdvice(one, version);
  return {
    ...{ severity: 'critical', object: one.object },
    ...{ metricLine: `${one.words}: ${metricLine}`, remediation },
  };
}
