import { expect, test } from 'vitest';
import type { Provider } from '../../vocabulary/hosted/providers.ts';
import { printable, stringLiteral } from '../mysql/quote.ts';
import { hostedRemediation } from './hosted-remediation.ts';

const onMysql = (provider: Provider, remediation: string) =>
  hostedRemediation(provider, { engine: 'mysql', checkId: 'MY_TEST', remediation });

const JOIN = 'STOP GROUP_REPLICATION; START GROUP_REPLICATION; -- on db-2:3306, after you have read its log';
const NAMED =
  "SELECT user FROM t; -- if it shows no name, the server keeps no login for recovery: run START GROUP_REPLICATION USER = 'name', PASSWORD = 'password'; with the replication login of the group; without USER and PASSWORD if it shows one";

test.each<[Provider, string, string]>([
  ['rds', 'START REPLICA;', 'CALL mysql.rds_start_replication;'],
  ['aurora', 'START SLAVE SQL_THREAD;', 'CALL mysql.rds_start_replication;'],
  ['azure', 'STOP REPLICA;', 'CALL mysql.az_replication_stop;'],
  ['cloudsql', 'START REPLICA;', 'gcloud sql instances patch REPLICA --enable-database-replication;'],
  ['cloudsql', 'STOP REPLICA;', 'gcloud sql instances patch REPLICA --no-enable-database-replication;'],
  [
    'rds',
    "SHOW REPLICA STATUS; -- start the source; then START REPLICA FOR CHANNEL 'no''rth';",
    "SHOW REPLICA STATUS; -- start the source; then CALL mysql.rds_start_replication_for_channel('no''rth');",
  ],
  [
    'rds',
    JOIN,
    'CALL mysql.rds_group_replication_stop(); CALL mysql.rds_group_replication_start(0); -- on db-2:3306, after you have read its log',
  ],
  [
    'rds',
    NAMED,
    "SELECT user FROM t; -- if it shows no name, the server keeps no login for recovery: run CALL mysql.rds_group_replication_set_recovery_channel('password'); CALL mysql.rds_group_replication_start(0); with the password of rdsgrprepladmin; without rds_group_replication_set_recovery_channel if it shows one",
  ],
  [
    'rds',
    "SELECT concat('KILL QUERY ', id, ';') AS statement FROM t;",
    "SELECT concat('CALL mysql.rds_kill_query(', id, ');') AS statement FROM t;",
  ],
])('%s: %s', (provider, remediation, own) => {
  expect(onMysql(provider, remediation)).toBe(own);
});

// A name that looks like a statement is not one.
test.each([
  "SELECT concat('KILL ', id, ';') FROM t WHERE user = 'START REPLICA;';",
  "SELECT concat('KILL ', id, ';') FROM t WHERE user = 'a'' -- KILL the session';",
  `SELECT concat('KILL ', id, ';') FROM t WHERE user = ${stringLiteral("concat('KILL ', x, ';')")};`,
  'SHOW INDEX FROM `-- KILL the session`.`a``STOP GROUP_REPLICATION;`;',
])('names in %s stay as they are', (remediation) => {
  expect(
    onMysql('rds', remediation).replace(
      "concat('CALL mysql.rds_kill(', id, ');')",
      "concat('KILL ', id, ';')",
    ),
  ).toBe(remediation);
});

const REFUSED = /^\w[\w ]+ gives no login the rights to do this: /;

test.each<[Provider, string]>([
  ['aurora', "START REPLICA FOR CHANNEL 'north';"],
  ['azure', "START REPLICA FOR CHANNEL 'north';"],
  ['cloudsql', 'STOP REPLICA; RESET REPLICA; START REPLICA;'],
  ['rds', 'STOP REPLICA; RESET REPLICA; START REPLICA;'],
  ['rds', "STOP ALL SLAVES; START SLAVE 'north';"],
  ['azure', JOIN],
  ['cloudsql', NAMED],
  ['aiven', 'START REPLICA;'],
  ['rds', printable("START REPLICA FOR CHANNEL 'a\\\\b';", "START REPLICA FOR CHANNEL 'a\\b';")],
])('%s has no procedure for %s', (provider, remediation) => {
  expect(onMysql(provider, remediation)).toMatch(REFUSED);
});

test.each(['ALTER ROLE ALL RESET enable_seqscan;', 'Install the package of the extension on the server.'])(
  'no provider of PostgreSQL allows %s',
  (remediation) => {
    const asked = { engine: 'postgres', checkId: 'PG_TEST', remediation } as const;
    expect(hostedRemediation('neon', asked)).toMatch(REFUSED);
  },
);
