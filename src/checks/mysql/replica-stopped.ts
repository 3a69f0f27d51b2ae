import type { Check, Fault } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';
import {
  type Replication,
  replicaPrivilege,
  replicaSettings,
  replicaSql,
  replicationsIn,
  replicaWord,
  showStatus,
} from './replica-status.ts';

/** The source has purged the binary log that the replica needs next. */
const LOG_IS_GONE = 1236;

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
  const says = (metricLine: string, remediation: string): Fault => ({
    ...{ severity: 'critical', object: one.object },
    ...{ metricLine: `${one.words}: ${metricLine}`, remediation },
  });
  const start = `START ${replicaWord(version)}${one.suffix};`;
  if (one.applier !== 'Yes') {
    if (one.applierError === 0)
      return says(
        one.receiver === 'Yes'
          ? 'the SQL thread is stopped, so nothing is applied; start it.'
          : 'the IO and the SQL thread are not running, so nothing is copied; start them.',
        start,
      );
    return says(
      `the SQL thread stopped on error ${one.applierError}; fix the rows that it names, then start it.`,
      `${start} -- after you fix the rows in Last_SQL_Error of ${showStatus(version)}: other rows probably differ from the source too, so compare`,
    );
  }
  if (one.receiver === 'Yes') return null;
  if (one.receiverError === LOG_IS_GONE)
    return says(
      `the source no longer has the next binary log (error ${LOG_IS_GONE}); rebuild the replica.`,
      `${showStatus(version)}; -- Last_IO_Error names the missing log: restore a newer backup of the source, and start from its position`,
    );
  if (one.receiver === 'No')
    return says(
      `the IO thread ${one.receiverError === 0 ? 'is stopped' : `stopped on error ${one.receiverError}`}, so nothing new arrives; start it.`,
      start,
    );
  return says(
    `the IO thread can't reach the source${one.receiverError === 0 ? '' : ` (error ${one.receiverError})`}, so nothing new arrives; fix the source, the network or the login.`,
    `${showStatus(version)}; -- Last_IO_Error says why: once that is fixed, the thread reconnects by itself`,
  );
}
