import type { Provocation as AnyProvocation } from '../support/provocation.ts';
import type { MysqlServer } from './mysql-server.ts';
import { ofFigures } from './provocations-figures.ts';
import { load } from './provocations-load.ts';
import { replication } from './provocations-replication.ts';
import { schema } from './provocations-schema.ts';
import { settings } from './provocations-settings.ts';
import { dialect } from './tested-server.ts';

/** A provocation on MySQL or MariaDB. */
export type Provocation = AnyProvocation<MysqlServer>;

/** Checks whose fault another test file makes, and that file. */
export const provokedElsewhere: ReadonlyMap<string, string> = new Map([
  ...['MY_REPLICA_STOPPED', 'MY_REPLICA_LAG', 'MY_REPLICA_WRITABLE'].map((id): [string, string] => [
    id,
    'replication.test.ts',
  ]),
  ...['MY_QUERY_SLOWER', 'MY_QUERY_NEW', 'MY_QUERY_READS'].map((id): [string, string] => [
    id,
    'queries.test.ts',
  ]),
  ['MY_GALERA_UNSYNCED', 'galera.test.ts'],
  ['MY_GROUP_MEMBER_DOWN', 'group-replication.test.ts'],
  ...dialect<[string, string][]>({
    mariadb: [['MY_REDO_DISABLED', 'provocations-settings.ts, on MySQL']],
    mysql: [['MY_VERSION_EOL', 'src/checks/mysql/settings.test.ts']], // no old MySQL is at hand
  }),
]);

/** At least one per check. Objects stay after the fix, and must no longer be a fault. */
export const provocations: Provocation[] = [...load, ...ofFigures, ...settings, ...replication, ...schema];
