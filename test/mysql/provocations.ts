import type { Severity, Thresholds } from '../../src/checks/check.ts';
import type { MariadbServer } from './mariadb-server.ts';
import { load } from './provocations-load.ts';
import { replication } from './provocations-replication.ts';
import { schema } from './provocations-schema.ts';
import { settings } from './provocations-settings.ts';

/** A fault that can be made on a test server and mended again, and the finding that it must give. */
export interface Provocation {
  check_id: string;
  severity: Severity;
  object: string | null;
  /** So that nobody has to wait for half an hour. */
  thresholds?: Thresholds;
  /** Other checks that can't measure anything meanwhile. */
  blinds?: string[];
  /** Makes what has to be there at the run before. */
  prepare?(server: MariadbServer): Promise<void>;
  /** Makes the fault; what it returns mends it, by running the finding's remediation where that is SQL. */
  provoke(server: MariadbServer): Promise<(remediation: string) => Promise<void>>;
}

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
