import type { Provocation as AnyProvocation } from '../provocation.ts';
import type { MariadbServer } from './mariadb-server.ts';
import { load } from './provocations-load.ts';
import { replication } from './provocations-replication.ts';
import { schema } from './provocations-schema.ts';
import { settings } from './provocations-settings.ts';

/** Of a MariaDB. */
export type Provocation = AnyProvocation<MariadbServer>;

/** Checks whose fault is made in a test file of its own, and which. */
export const provokedElsewhere: ReadonlyMap<string, string> = new Map([
  ...['MY_REPLICA_STOPPED', 'MY_REPLICA_LAG', 'MY_REPLICA_WRITABLE'].map((id): [string, string] => [
    id,
    'replication.test.ts',
  ]),
  ['MY_GALERA_UNSYNCED', 'galera.test.ts'],
  ['MY_GROUP_MEMBER_DOWN', 'src/checks/mysql/replication.test.ts'], // MySQL's only
  ['MY_REDO_DISABLED', 'src/checks/mysql/settings.test.ts'], // MySQL's only
]);

/** One and more for each check. What was mended stays behind, and must be no fault any more. */
export const provocations: Provocation[] = [...load, ...settings, ...replication, ...schema];
