import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { familyOfCheck } from '../vocabulary/engines.ts';
import { statementLock } from './statement-lock.ts';

const PAGES = new URL('../../docs/checks/', import.meta.url);
// Not the further lines of one, which stand deeper.
const SQL = /^ {4}[A-Z]{2,}(?: |;)/;

/** The statements that a check's page proposes under "How to fix". */
const proposed = readdirSync(PAGES).flatMap((file) => {
  const [, fix = ''] =
    /## How to fix\n([\s\S]*?)\n## /.exec(readFileSync(new URL(file, PAGES), 'utf8')) ?? [];
  const lines = fix.split('\n').filter((line) => SQL.test(line));
  return lines.map((line) => [file.replace('.md', ''), line.trim()] as const);
});

test.each(proposed)('%s: the locks of %s are known', (check, statement) => {
  expect(statementLock(familyOfCheck(check) ?? 'postgres', statement)).toMatch(/\.$/);
});

test('pages propose SQL statements', () => {
  expect(proposed.length).toBeGreaterThan(50);
});

test.each([
  ['VACUUM (ANALYZE) public.orders;', /^Holds SHARE UPDATE EXCLUSIVE.*reads and writes go on/],
  [
    'VACUUM (FULL, ANALYZE) public.orders; -- locks the table while it runs; pg_repack does not',
    /^Holds ACCESS EXCLUSIVE/,
  ],
  ['CREATE INDEX CONCURRENTLY ON public.orders (customer_id);', /can't run inside one/],
  ['CREATE INDEX ON ONLY public.orders (customer_id);', /writes wait/],
  ['REINDEX INDEX CONCURRENTLY public.i;', /SHARE UPDATE EXCLUSIVE/],
  ['REINDEX INDEX public.i;', /SHARE on the table/],
  ['ALTER TABLE public.orders VALIDATE CONSTRAINT c;', /SHARE UPDATE EXCLUSIVE/],
  ['ALTER TABLE public.orders RESET (autovacuum_enabled);', /SHARE UPDATE EXCLUSIVE/],
  [
    'ALTER TABLE a ALTER COLUMN b SET DATA TYPE bigint; ALTER SEQUENCE a_id_seq AS bigint NO MAXVALUE;',
    /ACCESS EXCLUSIVE/,
  ],
  ['ALTER TABLE public.orders ADD PRIMARY KEY USING INDEX orders_number;', /for a moment/],
  ['ALTER TABLE public.orders ADD COLUMN id bigserial, ADD PRIMARY KEY (id);', /rewritten/],
  ['ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();', /^Locks no table/],
  ['Restart PostgreSQL: systemctl restart postgresql, or pg_ctl restart.', null],
  ['-- public.orders is partitioned by an expression: partition it by columns, then add a primary key', null],
  ['', null],
])('%s', (statement, lock) => {
  if (lock === null) expect(statementLock('postgres', statement)).toBeNull();
  else expect(statementLock('postgres', statement)).toMatch(lock);
});

test('a name that reads like a statement makes a lock no lighter', () => {
  const table = '"x; SELECT 1; VACUUM (ANALYZE) y"';
  expect(statementLock('postgres', `VACUUM (FULL, ANALYZE) ${table};`)).toMatch(/^Holds ACCESS EXCLUSIVE/);
  expect(statementLock('postgres', 'ALTER TABLE "a-- b" SET LOGGED;')).toMatch(/^Holds ACCESS EXCLUSIVE/);
});

test.each([
  [
    'mysql',
    "ALTER TABLE t MODIFY id bigint COMMENT 'Key; Primary';",
    /^Copies the table if the type changes/,
  ],
  ['mysql', "ALTER TABLE t MODIFY id bigint DEFAULT 'it''s; X' COMMENT 'a -- b';", /^Copies the table if/],
  [
    'mysql',
    "ALTER TABLE t COMMENT 'a -- b', ADD COLUMN c int; ALTER TABLE t ENGINE = InnoDB;",
    /another engine/,
  ],
  [
    'postgres',
    "SELECT * FROM pg_stat_activity WHERE application_name = 'x; VACUUM (FULL) y'; -- then look",
    /^Locks no/,
  ],
  [
    'postgres',
    "SELECT 'a -- ALTER TABLE x SET LOGGED'; -- as the server's log says, and can't wait",
    /^Locks no/,
  ],
  [
    'postgres',
    "SELECT 1; -- the server's log says that it can't: run VACUUM (FULL) t;",
    /^Holds ACCESS EXCLUSIVE/,
  ],
  ['postgres', "SELECT 1; -- then SELECT f('VACUUM (FULL)', E'\\'; VACUUM (FULL)');", /^Locks no/],
] as const)('%s: what a literal says makes no lock: %s', (engine, remediation, lock) => {
  expect(statementLock(engine, remediation)).toMatch(lock);
});

test('the gravest statement counts, also one in a note', () => {
  const steps = (note: string) => statementLock('postgres', `SELECT 1; -- then ${note}`);
  expect(steps('look')).toMatch(/^Locks no table/);
  expect(steps('run ALTER TABLE public.t ALTER COLUMN id TYPE bigint; and wait')).toMatch(/rewritten/);
  expect(steps('rebuild with REINDEX INDEX CONCURRENTLY, and run ALTER TABLE "x;y" SET LOGGED;')).toMatch(
    /rewritten/,
  );
  expect(steps(`it isn't needed; DROP INDEX public.i; don't wait`)).toMatch(/ACCESS EXCLUSIVE/);
});

test('commands of PgBouncer lock nothing', () => {
  expect(statementLock('pgbouncer', 'RESUME "a;b";')).toMatch(/^Locks no table/);
  expect(statementLock('pgbouncer', 'SHUTDOWN;')).toBeNull();
});

test('MySQL’s statements have their own rules', () => {
  const copied = 'ALTER TABLE `shop`.`orders` CONVERT TO CHARACTER SET utf8mb4;';
  expect(statementLock('mysql', copied)).toMatch(/^Copies the table/);
  expect(statementLock('mariadb', 'ALTER TABLE `a`.`b` DROP INDEX `c`;')).toMatch(/metadata lock/);
  expect(statementLock('mysql', 'SET PERSIST sync_binlog = 1;')).toMatch(/^Locks no table/);
});
