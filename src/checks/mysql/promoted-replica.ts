import { numberIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { counted } from '../wording.ts';
import { isMariaDb } from './flavour.ts';
import {
  isClusterMember,
  type Replication,
  replicaSettings,
  replicaWord,
  showStatus,
} from './replica-status.ts';

/** What makes a server with a configured source look like one that needs none; undefined if nothing does. */
export function signsOfPrimary(rows: readonly Row[]): string | undefined {
  const replicas = ownReplicas(rows);
  const signs = [
    ...(isWritable(rows) ? ['takes writes (read_only is OFF)'] : []),
    ...(isClusterMember(rows) ? ['is a member of a cluster'] : []),
    ...(replicas > 0 ? [`has ${counted(replicas, 'replica')} of its own`] : []),
  ];
  return signs.length === 0 ? undefined : signs.join(' and ');
}

/** Whether applications can write to the server. MariaDB 12 has further values than ON, all of them stricter. */
export function isWritable(rows: readonly Row[]): boolean {
  return /^(?:off|0)$/i.test(replicaSettings(rows).text('read_only'));
}

/** How many replicas copy from the server now. */
export function ownReplicas(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + ('own_replicas' in row ? numberIn(row, 'own_replicas') : 0), 0);
}

/** Whether a source is still replicated from. */
export function isReplicating({ applier, receiver }: Replication): boolean {
  return applier === 'Yes' && receiver === 'Yes';
}

/**
 * The fault of a stopped source on a server that may have been promoted: started, it would apply old or foreign writes to a
 * primary. Only people know which of the two the server is.
 */
export function promotedFault(
  one: Replication,
  { signs, version, rows }: { signs: string; version: number; rows: readonly Row[] },
): Fault {
  const word = replicaWord(version);
  const stopped = one.receiver === 'No' && one.applier === 'No' && one.receiverError + one.applierError === 0;
  const isLeftOver = stopped && isWritable(rows) && (!one.begun || ownReplicas(rows) > 0);
  const need = isClusterMember(rows)
    ? [
        'it is the primary now, or its data come from the cluster',
        'this server as the primary, or the cluster has its data',
      ]
    : ['it is the primary now', 'this server as the primary'];
  const readOnly = isWritable(rows)
    ? 'turn on read_only, mend what stopped it, and then run'
    : 'mend what stopped it, and then run';
  return {
    severity: isLeftOver ? 'warning' : 'critical',
    object: one.object,
    metricLine: `${one.words}: a source is configured, but replication from it has stopped, and this server ${signs}. If ${need[0]}, remove the old source; starting replication would harm it.`,
    remediation: `${showStatus(version)}; SELECT @@read_only; -- find out first whether applications and replicas use ${need[1]}. If so: ${one.statement(`STOP ${word}`)} ${resetAll(one, word, version)} If it is a replica: ${readOnly} ${one.statement(`START ${word}`)}`,
  };
}

/** MariaDB writes `RESET REPLICA 'north' ALL`, MySQL `RESET REPLICA ALL FOR CHANNEL 'north'`. */
function resetAll(one: Replication, word: string, version: number): string {
  return isMariaDb(version) ? one.statement(`RESET ${word}`, ' ALL') : one.statement(`RESET ${word} ALL`);
}
