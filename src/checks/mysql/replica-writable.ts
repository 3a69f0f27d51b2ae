import type { Check } from '../check.ts';
import { counted } from '../wording.ts';
import { isMariaDb } from './flavour.ts';
import { isReplicating, isWritable, ownReplicas } from './promoted-replica.ts';
import { isClusterMember, replicaPrivilege, replicaSql, replicationsIn } from './replica-status.ts';
import { setForGood } from './setting-check.ts';

/** A replica that an application can write to by mistake: its data then differ, and replication stops on an error later. */
export const replicaWritable: Check = {
  id: 'MY_REPLICA_WRITABLE',
  title: 'Replica is writable',
  category: 'replication',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  privilege: replicaPrivilege,
  sql: replicaSql,
  judge: (rows, server) => {
    const { version } = server;
    const isOpen = isWritable(rows);
    const replications = replicationsIn(rows, version);
    if (replications.length === 0)
      return { faults: [], measures: [], passMessage: 'This server is not a replica.' };
    if (!isOpen) return { faults: [], measures: [], passMessage: 'The replica is read-only.' };
    // Perhaps it was promoted: read_only would then stop the applications.
    if (!replications.some(isReplicating))
      return { faults: [], measures: [], passMessage: 'Replication has stopped: see MY_REPLICA_STOPPED.' };
    const statement = setForGood(server, isMariaDb(version) ? 'read_only' : 'super_read_only', 'ON');
    const replicas = ownReplicas(rows);
    // Applications write to one node of a cluster at least, perhaps to this one.
    const others = [
      ...(isClusterMember(rows) ? ['is a member of a cluster'] : []),
      ...(replicas > 0 ? [`has ${counted(replicas, 'replica')} of its own`] : []),
    ].join(' and ');
    return {
      passMessage: '',
      measures: [],
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine:
            'read_only is OFF on this replica, so applications can write rows that its source lacks; turn it on.',
          remediation:
            others === '' || server.provider
              ? statement
              : `SHOW PROCESSLIST; -- this server ${others}: find out whether applications write to it on purpose, as to one of two primaries. If not, run ${statement}`,
        },
      ],
    };
  },
};
