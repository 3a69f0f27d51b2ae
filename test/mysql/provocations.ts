import type { Provocation as AnyProvocation } from '../provocation.ts';
import type { MariadbServer } from './mariadb-server.ts';
import { load } from './provocations-load.ts';
import { replication } from './provocations-replication.ts';
import { schema } from './provocations-schema.ts';
import { settings } from './provocations-settings.ts';

/** Provocations for MariaDB. */
export type Provocation = AnyProvocation<MariadbServer>;

/** Checks whose fault another test file makes, and that file. */
export const provokedElsewhere: ReadonlyMap<string, string> = new Map([
  ...['MY_REPLICA_STOPPED', 'MY_REPLICA_LAG', 'MY_REPLICA_WRITABLE'].map((id): [string, string] => [
    id,
    'replication.test.ts',
  ]),
  ['MY_GALERA_UNSYNCED', 'galera.test.ts'],
  ['MY_GROUP_MEMBER_DOWN', 'src/checks/mysql/replication.test.ts'], // MySQL's only
  ['MY_REDO_DISABLED', 'src/checks/mysql/settings.test.ts'], // MySQL's only
]);

/** At least one per check. Objects stay after the fix, and must no longer be a fault. */
export const provocations: Provocation[] = [...load, ...settings, ...replication, ...schema];
