import type { Check } from '../check.ts';
import { isMariaDb } from './flavour.ts';
import { replicaPrivilege, replicaSettings, replicaSql, replicationsIn } from './replica-status.ts';
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
    const settings = replicaSettings(rows);
    if (replicationsIn(rows, version).length === 0)
      return { faults: [], measures: [], passMessage: 'This server is not a replica.' };
    // MariaDB 12 has further values than ON, all of them stricter.
    if (!/^(?:off|0)$/i.test(settings.text('read_only')))
      return { faults: [], measures: [], passMessage: 'The replica is read-only.' };
    return {
      passMessage: '',
      measures: [],
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine:
            'read_only is OFF on this replica, so applications can write rows that its source lacks; turn it on.',
          remediation: setForGood(server, isMariaDb(version) ? 'read_only' : 'super_read_only', 'ON'),
        },
      ],
    };
  },
};
