import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { type SeenJudgement, seen } from '../../../test/support/seen-judgement.ts';
import type { Row } from '../fault.ts';
import { type JudgementInput, judgementOf } from '../judgement-of.ts';
import { isMariaDb, versionNumber } from './flavour.ts';
import { mysqlChecks } from './mysql-checks.ts';

const [MYSQL_80, MYSQL_84, MARIADB] = [80_036, 80_404, 101_119];

function judge(id: string, rows: Row[], facts: Partial<JudgementInput>): SeenJudgement {
  const check = mysqlChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  const judgement = seen(
    judgementOf(check, rows, { version: MARIADB, database: '', now: new Date('2026-11-21'), ...facts }),
  );
  expectMeasures(check, judgement);
  return judgement;
}

/** As SHOW GLOBAL STATUS and SHOW GLOBAL VARIABLES give them: all values are text. */
const shown = (figures: Record<string, string | number>): Row[] =>
  Object.entries(figures).map(([name, value]) => ({ Variable_name: name, Value: String(value) }));

const binlog = { log_bin: 'ON', binlog_expire_logs_seconds: 0 };
const network = { require_secure_transport: 'OFF', skip_networking: 'OFF', bind_address: '*' };

test.each<[string, number, Record<string, string | number>, string | undefined]>([
  ['MY_FLUSH_NOT_1', MYSQL_84, { innodb_flush_log_at_trx_commit: 1 }, undefined],
  ['MY_FLUSH_NOT_1', MYSQL_84, { innodb_flush_log_at_trx_commit: 3 }, 'warning'],
  ['MY_FLUSH_NOT_1', MARIADB, { innodb_flush_log_at_trx_commit: 3 }, undefined],
  ['MY_FLUSH_NOT_1', MARIADB, { innodb_flush_log_at_trx_commit: 2 }, 'warning'],
  ['MY_SYNC_BINLOG', MYSQL_84, { log_bin: 'ON', sync_binlog: 1 }, undefined],
  ['MY_SYNC_BINLOG', MYSQL_84, { log_bin: 'ON', sync_binlog: 0 }, 'warning'],
  ['MY_SYNC_BINLOG', MYSQL_84, { log_bin: 'OFF', sync_binlog: 0 }, undefined],
  ['MY_DOUBLEWRITE_OFF', MYSQL_84, { innodb_doublewrite: 'ON' }, undefined],
  ['MY_DOUBLEWRITE_OFF', MYSQL_84, { innodb_doublewrite: 'DETECT_AND_RECOVER' }, undefined],
  ['MY_DOUBLEWRITE_OFF', MYSQL_84, { innodb_doublewrite: 'DETECT_ONLY' }, 'critical'],
  ['MY_DOUBLEWRITE_OFF', MYSQL_84, { innodb_doublewrite: 'OFF' }, 'critical'],
  ['MY_DOUBLEWRITE_OFF', 110_802, { innodb_doublewrite: 'fast' }, undefined],
  ['MY_FORCE_RECOVERY', MARIADB, { innodb_force_recovery: 0 }, undefined],
  ['MY_FORCE_RECOVERY', MARIADB, { innodb_force_recovery: 6 }, 'critical'],
  ['MY_REDO_DISABLED', MYSQL_84, { Innodb_redo_log_enabled: 'ON' }, undefined],
  ['MY_REDO_DISABLED', MYSQL_84, { Innodb_redo_log_enabled: 'OFF' }, 'critical'],
  ['MY_BINLOG_OFF', MYSQL_84, { log_bin: 'ON' }, undefined],
  ['MY_BINLOG_OFF', MYSQL_84, { log_bin: 'OFF' }, 'warning'],
  ['MY_BINLOG_NO_EXPIRY', MYSQL_84, { ...binlog, log_bin: 'OFF' }, undefined],
  ['MY_BINLOG_NO_EXPIRY', MYSQL_84, binlog, 'warning'],
  ['MY_BINLOG_NO_EXPIRY', MYSQL_84, { ...binlog, binlog_expire_logs_seconds: 1 }, undefined],
  ['MY_BINLOG_NO_EXPIRY', MYSQL_80, { ...binlog, expire_logs_days: 10 }, undefined],
  ['MY_BINLOG_NO_EXPIRY', MYSQL_80, { ...binlog, expire_logs_days: 0 }, 'warning'],
  ['MY_BINLOG_NO_EXPIRY', 110_402, { ...binlog, max_binlog_total_size: 2 ** 30 }, undefined],
  ['MY_BINLOG_NO_EXPIRY', 110_402, { ...binlog, max_binlog_total_size: 0 }, 'warning'],
  [
    'MY_BINLOG_NO_EXPIRY',
    MYSQL_84,
    { ...binlog, binlog_expire_logs_seconds: 9, binlog_expire_logs_auto_purge: 'OFF' },
    'warning',
  ],
  ['MY_TLS_NOT_REQUIRED', MYSQL_84, network, 'info'],
  ['MY_TLS_NOT_REQUIRED', MYSQL_84, { ...network, require_secure_transport: 'ON' }, undefined],
  ['MY_TLS_NOT_REQUIRED', MYSQL_84, { ...network, skip_networking: 'ON' }, undefined],
  ['MY_TLS_NOT_REQUIRED', MARIADB, { ...network, bind_address: '' }, 'info'],
  ['MY_TLS_NOT_REQUIRED', MARIADB, { ...network, bind_address: '127.0.0.1, ::1' }, undefined],
  ['MY_TLS_NOT_REQUIRED', MARIADB, { ...network, bind_address: '127.0.0.1,10.0.0.5' }, 'info'],
  ['MY_LOCAL_INFILE', MYSQL_84, { local_infile: 'OFF' }, undefined],
  ['MY_LOCAL_INFILE', MYSQL_84, { local_infile: 'ON' }, 'warning'],
  ['MY_SQL_MODE_LAX', MYSQL_84, { sql_mode: 'ANSI_QUOTES,STRICT_ALL_TABLES' }, undefined],
  ['MY_SQL_MODE_LAX', MYSQL_84, { sql_mode: 'ANSI_QUOTES' }, 'warning'],
])('%s, version %i, %j: %s', (id, version, settings, severity) => {
  const { faults, passMessage, skipped } = judge(id, shown(settings), { version });
  expect(faults.map((fault) => fault.severity)).toEqual(severity ? [severity] : []);
  expect(passMessage === '').toBe(severity !== undefined);
  expect(skipped).toBeUndefined();
});

test('a statement without a row is an error, not "ok"', () => {
  const own = /REDO_TOO|FLUSH|SYNC|DOUBLE|FORCE|BINLOG|EOL|PASSWORD|ROOT|AUTH|TLS|INFILE|MODE/;
  for (const { id } of mysqlChecks.filter((check) => own.test(check.id)))
    expect(() => judge(id, [], {}), id).toThrow(TypeError);
  expect(() => judge('MY_REDO_DISABLED', [], { version: MYSQL_84 })).toThrow(TypeError);
});

test('the redo log can only be disabled in MySQL from 8.0.21 on', () => {
  const skipped = (version: number) => judge('MY_REDO_DISABLED', [], { version }).skipped;
  expect(skipped(MARIADB)).toContain('MariaDB always');
  expect(skipped(80_020)).toContain('before 8.0.21');
});

test('only MySQL writes a setting down itself', () => {
  const lax = shown({ sql_mode: 'ANSI_QUOTES' });
  const remediation = (version: number) =>
    judge('MY_SQL_MODE_LAX', lax, { version }).faults.map((fault) => fault.remediation);
  expect(remediation(MYSQL_84)).toEqual(["SET PERSIST sql_mode = 'STRICT_TRANS_TABLES,ANSI_QUOTES';"]);
  expect(remediation(MARIADB)).toEqual([
    "SET GLOBAL sql_mode = 'STRICT_TRANS_TABLES,ANSI_QUOTES'; -- and sql_mode = 'STRICT_TRANS_TABLES,ANSI_QUOTES' under [mysqld] in the option file",
  ]);
});

test.each([
  [80_036, '2026-04-30', 0],
  [80_036, '2026-05-01', 1],
  [50_744, '2026-11-21', 1],
  [50_651, '2026-11-21', 1],
  [80_300, '2024-05-01', 1],
  [80_404, '2032-04-30', 0],
  [90_600, '2026-04-22', 1],
  [90_701, '2034-04-30', 0],
  [260_700, '2026-10-31', 0],
  [260_700, '2026-11-01', 1],
  [261_000, '2040-01-01', 0],
  [101_119, '2028-02-16', 0],
  [101_119, '2028-02-17', 1],
  [100_338, '2026-11-21', 1],
  [100_623, '2026-07-06', 0],
  [100_623, '2026-07-07', 1],
  [110_408, '2029-05-29', 0],
  [110_803, '2028-06-05', 1],
  [120_303, '2040-01-01', 0],
])('version %i on %s: %i faults', (version, day, faults) => {
  const now = new Date(`${day}T23:59:59Z`);
  const name = isMariaDb(version) ? '10.11.6-MariaDB-0+deb12u1' : '8.0.36-28';
  const judgement = judge('MY_VERSION_EOL', shown({ version: name }), { version, now });
  expect(judgement.faults).toHaveLength(faults);
  expect(judgement.passMessage).toMatch(/^(MariaDB 10\.11\.6|MySQL 8\.0\.36) is /);
});

test.each([
  [80_036, 'MySQL 8.4'],
  [90_600, 'MySQL 9.7'],
  [260_700, 'its newest release'],
  [100_623, 'MariaDB 11.8'],
  [110_700, 'MariaDB 11.8'],
  [120_100, 'MariaDB 12.3'],
])('version %i is sent forward, to %s', (version, goTo) => {
  const { faults } = judge('MY_VERSION_EOL', shown({ version: 'x' }), { version });
  expect(faults.map(({ metricLine }) => metricLine)).toEqual([
    expect.stringContaining(`upgrade to ${goTo}.`),
  ]);
});

test.each([
  ['8.0.36-28', 80_036],
  ['9.7.1', 90_701],
  ['26.7.0', 260_700],
  ['26.10.1-cluster', 261_001],
  ['10.11.19-MariaDB-0+deb12u1', 101_119],
  ['5.5.5-10.6.20-MariaDB-log', 100_620],
  ['12.3.3-MariaDB', 120_303],
  ['10.11.19', null],
  ['PostgreSQL 18.4', null],
])('%s is version %s', (text, version) => {
  expect(versionNumber(text)).toBe(version);
  if (version !== null) expect(isMariaDb(version)).toBe(text.includes('MariaDB'));
});

const MB = 2 ** 20;
const mariadb = (written: number, age = 0) =>
  shown({
    Uptime: 10,
    Innodb_os_log_written: 7,
    Innodb_lsn_current: written,
    Innodb_checkpoint_age: age,
    Innodb_checkpoint_max_age: 80 * MB,
    innodb_log_file_size: 96 * MB,
  });
const mysql = (lsn: number, checkpoint: number) =>
  shown({
    Uptime: 10,
    Innodb_os_log_written: 7,
    innodb_log_file_size: 48 * MB,
    innodb_log_files_in_group: 2,
    Innodb_redo_log_current_lsn: lsn,
    Innodb_redo_log_checkpoint_lsn: checkpoint,
    innodb_redo_log_capacity: 100 * MB,
  });
const older = (written: number, uptime: number) =>
  shown({
    Uptime: uptime,
    Innodb_os_log_written: written,
    innodb_log_file_size: 48 * MB,
    innodb_log_files_in_group: 2,
  });
const small = (rows: Row[], before: Row[], seconds: number, version: number) =>
  judge('MY_REDO_TOO_SMALL', rows, { version, before: { rows: before, seconds } });

test.each([
  ['within the hour', MARIADB, mariadb(97 * MB - 1), mariadb(MB), 3600, []],
  ['all of it in an hour', MARIADB, mariadb(97 * MB), mariadb(MB), 3600, ['warning']],
  ['a burst counts as in ten minutes', MARIADB, mariadb(17 * MB - 1), mariadb(MB), 60, []],
  ['a large burst', MARIADB, mariadb(17 * MB + 9), mariadb(MB), 60, ['warning']],
  ['an old checkpoint at this run', MARIADB, mariadb(MB, 80 * MB), mariadb(MB, 64 * MB - 1), 60, []],
  ['an old checkpoint at the last run', MARIADB, mariadb(MB, 64 * MB - 1), mariadb(MB, 80 * MB), 60, []],
  ['an old checkpoint at both', MARIADB, mariadb(MB, 64 * MB), mariadb(MB, 80 * MB), 60, ['critical']],
  ['MySQL, within the hour', 80_404, mysql(200 * MB - 1, 200 * MB), mysql(100 * MB, 0), 3600, []],
  ['MySQL, all of it in an hour', 80_404, mysql(200 * MB, 200 * MB), mysql(100 * MB, 0), 3600, ['warning']],
  ['MySQL, young enough', 80_404, mysql(180 * MB, 100 * MB + 1), mysql(175 * MB, 0), 60, []],
  ['MySQL, an old checkpoint', 80_404, mysql(180 * MB, 100 * MB), mysql(175 * MB, 0), 60, ['critical']],
  ['MySQL before 8.0.30', 80_029, older(96 * MB - 1, 3600), older(0, 1), 3600, []],
  ['MySQL before 8.0.30, all of it in an hour', 80_029, older(96 * MB, 3600), older(0, 1), 3600, ['warning']],
])('redo: %s', (_, version, rows, before, seconds, severities) => {
  const { faults, skipped } = small(rows, before, seconds, version);
  expect([faults.map(({ severity }) => severity), skipped]).toEqual([severities, undefined]);
});

test('redo is not measured on the first run or across a reset of counters', () => {
  expect(judge('MY_REDO_TOO_SMALL', mariadb(MB), {}).skipped).toContain('this is the first');
  expect(judge('MY_REDO_TOO_SMALL', mariadb(MB, 80 * MB), {}).skipped).toContain('this is the first');
  expect(small(mariadb(9), mariadb(MB), 60, MARIADB).skipped).toContain('counters were reset');
  expect(small(mariadb(MB), mariadb(9), 4, MARIADB).skipped).toContain('less than 5 s ago');
  expect(small(older(2 * MB, 59), older(MB, 600), 60, 80_029).skipped).toContain('counters were reset');
});

test.each([
  [100_800, mariadb(890 * MB), mariadb(0), /^Put innodb_log_file_size = 939524096 under \[mysqld\]/],
  [MARIADB, mariadb(890 * MB), mariadb(0), /^SET GLOBAL innodb_log_file_size = 939524096; --/],
  [80_404, mysql(890 * MB, 890 * MB), mysql(0, 0), /^SET PERSIST innodb_redo_log_capacity = 939524096;$/],
  [80_029, older(890 * MB, 3600), older(0, 1), /^Put innodb_log_file_size = 469762048 under \[mysqld\]/],
])('version %i: the redo log is enlarged as that version can', (version, rows, before, remediation) => {
  const { faults } = small(rows, before, 3600, version);
  expect(faults.map((fault) => fault.remediation)).toEqual([expect.stringMatching(remediation)]);
});

/** The rows of an account check with one fault, of `user` at any host. */
const account = (user: string, of: Row = {}, server: Row = {}): Row[] => [
  { accounts: 3, faulty: 1, keepers: 0, read_only: 0, ...server },
  { user, host: '%', own: 0, replicates: 0, ...of },
];

test.each([
  ['MY_EMPTY_PASSWORD', account('app'), 'ALTER USER `app`@`%` IDENTIFIED BY RANDOM PASSWORD; -- '],
  ['MY_EMPTY_PASSWORD', account('app', { own: 1 }), 'enter it with "connection change --password-stdin"'],
  ['MY_EMPTY_PASSWORD', account(''), 'DROP USER ``@`%`;'],
  ['MY_EMPTY_PASSWORD', account('', { own: 1 }), 'SHOW GRANTS FOR ``@`%`; -- dbvitals logs in with'],
  [
    'MY_EMPTY_PASSWORD',
    account('app', {}, { read_only: 1 }),
    'This server is read-only. Run this on its source: ',
  ],
  ['MY_ROOT_REMOTE', account('root', {}, { keepers: 1 }), 'ALTER USER `root`@`%` ACCOUNT LOCK;'],
  ['MY_ROOT_REMOTE', account('root'), 'SHOW GRANTS FOR `root`@`%`; -- no other administrator'],
  ['MY_ROOT_REMOTE', account('root', { own: 1 }, { keepers: 1 }), '; -- dbvitals logs in with this account'],
  ['MY_ROOT_REMOTE', account('root', { replicates: 1 }, { keepers: 1 }), '; -- a replica logs in as root'],
  ['MY_AUTH_LEGACY', account('a`b'), 'ALTER USER `a``b`@`%` IDENTIFIED WITH caching_sha2_password BY RANDOM'],
])('%s on MySQL: %j', (id, rows, remediation) => {
  const { faults } = judge(id, rows, { version: MYSQL_84 });
  expect(faults).toMatchObject([{ remediation: expect.stringContaining(remediation) }]);
  expect(JSON.stringify(faults).includes('ACCOUNT LOCK')).toBe(remediation.includes('ACCOUNT LOCK'));
  expect(judge(id, account('app', {}, { faulty: 0 }).slice(0, 1), { version: MYSQL_84 })).toMatchObject({
    faults: [],
    passMessage: expect.stringMatching(/^None of 3 accounts /),
  });
});

test('a new password needs functions of MySQL 8.0.18 and MariaDB 10.10, and takes any name', () => {
  const remediation = (user: string, version: number) =>
    judge('MY_EMPTY_PASSWORD', account(user), { version }).faults[0]?.remediation;
  for (const version of [80_017, 100_623])
    expect(remediation('app', version)).toMatch(
      /^SHOW GRANTS FOR `app`@`%`; -- then set a long random password/,
    );
  expect(remediation('app', 101_119)).toContain(
    "CONCAT('SET PASSWORD FOR `app`@`%` = PASSWORD(''', @password",
  );
  for (const user of ['a\\b', 'a\nb'])
    expect(remediation(user, 101_119)).toMatch(
      /^SET NAMES utf8mb4; SET @password = .* CONCAT\(0x[0-9a-f]+, @password/,
    );
});

test('a list of accounts that is cut short says so, and the number is that of all', () => {
  const [, one] = account('app');
  const rows = [
    { accounts: 200, faulty: 150, keepers: 0, read_only: 0 },
    ...Array.from({ length: 101 }, (_, n) => ({ ...one, user: `u${n}` })),
  ];
  const { faults, truncated, measures } = judge('MY_EMPTY_PASSWORD', rows, {});
  expect([faults.length, truncated]).toEqual([100, true]);
  expect(measures).toMatchObject([{ metric: 'accounts_without_password_count', value: 150 }]);
});

test.each([
  [MYSQL_84, 'DETECT_ONLY', 'SET GLOBAL'],
  [MYSQL_84, 'OFF', 'restart the server'],
  [110_806, 'OFF', 'SET GLOBAL'],
  [101_119, 'OFF', 'restart the server'],
])('doublewrite of version %i from %s: %s', (version, innodb_doublewrite, how) => {
  const { faults } = judge('MY_DOUBLEWRITE_OFF', shown({ innodb_doublewrite }), { version });
  expect(faults).toMatchObject([{ remediation: expect.stringContaining(how) }]);
});

test('MySQL asks for the columns that are read, no more', () => {
  expect(mysqlChecks.find(({ id }) => id === 'MY_EMPTY_PASSWORD')?.privilege?.(MYSQL_84)).toBe(
    'SELECT (user, host, plugin, authentication_string, account_locked) ON mysql.user',
  );
  expect(mysqlChecks.find(({ id }) => id === 'MY_ROOT_REMOTE')?.privilege?.(MYSQL_84)).toEqual([
    'SELECT (user, host, plugin, authentication_string, account_locked) ON mysql.user',
    'SELECT (super_priv, create_user_priv, grant_priv) ON mysql.user',
  ]);
});
