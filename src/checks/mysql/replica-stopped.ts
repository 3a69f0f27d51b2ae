import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Fault, Row } from '../fault.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';
import { isReplicating, promotedFault, signsOfPrimary } from './promoted-replica.ts';
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
    const faults = replications.flatMap((one) => fault(one, version, rows) ?? []);
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

function fault(one: Replication, version: number, rows: readonly Row[]): Fault | null {
  if (isReplicating(one)) return null;
  const signs = signsOfPrimary(rows);
  if (signs !== undefined) return promotedFault(one, { signs, version, rows });
  const { metricLine, remediation } =
    one.applier === 'Yes' ? receiverAdvice(one, version) : applierAdvice(one, version);
  return {
    severity: 'critical',
    object: one.object,
    metricLine: `${one.words}: ${metricLine}`,
    remediation,
  };
}
