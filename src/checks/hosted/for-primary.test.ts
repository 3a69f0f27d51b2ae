import { expect, test } from 'vitest';
import type { Finding } from '../check.ts';
import { findingForPrimary, forPrimary } from './for-primary.ts';

test.each([
  ['VACUUM (ANALYZE) public.t;', 'VACUUM (ANALYZE) public.t; -- on the primary'],
  ['ALTER TABLE a ADD b int; ANALYZE a;', 'ALTER TABLE a ADD b int; ANALYZE a; -- on the primary'],
  ['DROP INDEX CONCURRENTLY a; -- then watch', 'DROP INDEX CONCURRENTLY a; -- on the primary; then watch'],
  ['SELECT 1; -- if it is 1, DROP INDEX a;', 'SELECT 1; -- if it is 1, DROP INDEX a; (on the primary)'],
  ['SELECT 1; -- nothing else', 'SELECT 1; -- nothing else'],
  ['SELECT pg_terminate_backend(1);', 'SELECT pg_terminate_backend(1);'],
  ["ALTER SYSTEM SET work_mem = '4MB'; SELECT pg_reload_conf();", null],
  ["SELECT '; DROP INDEX a' AS x;", null],
  ['SELECT 1 FROM "-- DROP INDEX x";', null],
  ['DROP INDEX "a -- b";', 'DROP INDEX "a -- b"; -- on the primary'],
  ['Install the packages of PostgreSQL 18.6.', null],
  ['', null],
  ['SELECT 1; -- on each standby; then DROP INDEX a; on the primary', null],
])('PostgreSQL: %s', (remediation, said) => {
  expect(forPrimary('postgres', remediation)).toBe(said ?? remediation);
});

const AT = 'on the source if this is a replica';

test.each([
  ['ALTER TABLE `a`.`b` DROP INDEX `c`;', `ALTER TABLE \`a\`.\`b\` DROP INDEX \`c\`; -- ${AT}`],
  ['SET STATEMENT max_statement_time = 0 FOR ALTER TABLE a ENGINE = InnoDB;', undefined],
  ["ALTER USER 'a'@'b' IDENTIFIED BY 'x';", undefined],
  ['ALTER INSTANCE ENABLE INNODB REDO_LOG;', null],
  ['SET GLOBAL read_only = ON;', null],
  ['START REPLICA;', null],
  ["UPDATE performance_schema.setup_consumers SET enabled = 'YES';", null],
  ['KILL 12;', null],
])('MySQL: %s', (remediation, said) => {
  const expected = said === null ? remediation : (said ?? `${remediation} -- ${AT}`);
  expect(forPrimary('mysql', remediation)).toBe(expected);
  expect(forPrimary('mariadb', remediation)).toBe(expected);
});

test('the GRANT of a check is for the primary too, in its sentence and alone; what members wrote stays', () => {
  const grant = 'GRANT pg_monitor TO watcher;';
  const finding: Finding = {
    check_id: 'PG_LONG_QUERY',
    category: 'connections',
    status: 'skipped',
    title: 'Long-running query',
    metric_line: `Not measured: hidden. Run ${grant}`,
    remediation: '',
    severity: 'critical',
    database: '',
    object: null,
    missing_grant: grant,
  };
  expect(findingForPrimary('postgres', finding)).toMatchObject({
    metric_line: `Not measured: hidden. On the primary, run ${grant}`,
    missing_grant: `${grant} -- on the primary`,
  });
  const own: Finding = { ...finding, category: 'own', remediation: 'VACUUM t;' };
  expect(findingForPrimary('postgres', own)).toBe(own);
});
