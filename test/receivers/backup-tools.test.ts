import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BackupTool, parseReport } from '../../src/cli/backups/parse-reports.ts';
import { commandJson } from '../contract/command.ts';
import { type Service, startService, temporaryFolder } from '../contract/running-service.ts';
import { BackedUpMariaDb, BackedUpPostgres } from './backed-up-servers.ts';

// What pgBackRest, Barman and mariabackup of Debian report of real backups, read by `backup report`.

const folder = temporaryFolder();
const environment = { DBVITALS_DATA_DIR: folder.path };
let service: Service;
let postgres: BackedUpPostgres;
let mariaDb: BackedUpMariaDb;

beforeAll(async () => {
  [service, postgres, mariaDb] = await Promise.all([
    startService(environment, ['--no-monitor']),
    BackedUpPostgres.start(),
    BackedUpMariaDb.start(),
  ]);
});

afterAll(async () => {
  await postgres?.stop();
  await mariaDb?.stop();
  await service?.stop();
  folder.remove();
});

const run = <T>(words: string[], input?: string) =>
  commandJson<T>(words, { environment, ownProcess: true, ...(input !== undefined && { input }) });

interface Listed {
  label: string;
  source: string;
  succeeded: boolean;
  at: string;
  bytes: number | null;
}

/** Adds a connection; gives the function that reads a report for it, and lists what is known then. */
async function connection(name: string) {
  const url = 'postgres://w@db.example.com/shop';
  const words = [
    'connection',
    'add',
    '--account',
    '1',
    '--name',
    name,
    '--backup-expected',
    '26h',
    '--url',
    url,
  ];
  const id = String((await run<{ id: number }>(words)).id);
  return async (from: BackupTool, report: string) => {
    const read = await run<{ read: number; added: number }>(
      ['backup', 'report', '--connection', id, '--from', from, '-'],
      report,
    );
    return { ...read, listed: await run<Listed[]>(['backup', 'history', '--connection', id]) };
  };
}

test('pgBackRest: a full backup and an increment have their size, and damaged pages are a failure', async () => {
  const report = await connection('pgbackrest');
  const info = async () => (await postgres.pgBackRest('info', '--output=json')).stdout;
  expect((await postgres.pgBackRest('stanza-create')).status).toBe(0);
  await postgres.query(
    'create table orders with (autovacuum_enabled = off) as select n, md5(n::text) from generate_series(1, 20000) n',
  );
  for (const type of ['full', 'incr'])
    expect(await postgres.pgBackRest(`--type=${type}`, 'backup')).toMatchObject({ status: 0 });
  const first = await report('pgbackrest', await info());
  expect(first).toMatchObject({ read: 2, added: 2 });
  const size = Number(await postgres.query('select sum(pg_database_size(oid)) from pg_database'));
  for (const { succeeded, at, bytes } of first.listed) {
    expect(succeeded).toBe(true);
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(120_000);
    expect(bytes).toBeGreaterThan(0.8 * size);
    expect(bytes).toBeLessThan(1.5 * size);
  }
  expect(await report('pgbackrest', await info())).toMatchObject({ read: 2, added: 0 });

  await postgres.damage('orders', 'page');
  await postgres.pgBackRest('--type=full', 'backup');
  const { listed } = await report('pgbackrest', await info());
  expect(listed[0]).toMatchObject({ source: 'pgbackrest', succeeded: false });
  // Barman's backup would fail on the damaged page.
  await postgres.query('drop table orders');
});

test('base backups stop while the archiver is green: critical within the expected time', async () => {
  const words = ['connection', 'add', '--account', '1', '--name', 'archived', '--backup-expected', '26h'];
  const { id } = await run<{ id: number }>([...words, '--url', postgres.url]);
  const check = async () => {
    await postgres.query('select pg_switch_wal()');
    await expect
      .poll(() =>
        postgres.query(
          "select last_archived_time > coalesce(last_failed_time, '-infinity') from pg_stat_archiver",
        ),
      )
      .toBe('t');
    const { checks } = await run<{ checks: { check_id: string; status: string; metric_line: string }[] }>([
      'check',
      'run',
      '--connection',
      String(id),
    ]);
    const found = (checkId: string) => checks.find(({ check_id }) => check_id === checkId);
    return { archiver: found('PG_ARCHIVER_FAILING'), backup: found('BACKUP_STALE') };
  };
  // The report of the tool, as it would be so many hours after its last backup.
  const reportAfter = async (hours: number) => {
    const info = JSON.parse((await postgres.pgBackRest('info', '--output=json')).stdout) as {
      backup: { error: boolean; label: string; timestamp: { start: number; stop: number } }[];
    }[];
    for (const backup of info.flatMap((stanza) => stanza.backup)) {
      backup.label += `-${hours}`;
      backup.timestamp.start -= hours * 3_600;
      backup.timestamp.stop -= hours * 3_600;
    }
    await run(
      ['backup', 'report', '--connection', String(id), '--from', 'pgbackrest', '-'],
      JSON.stringify(info),
    );
  };
  await reportAfter(27);
  const late = await check();
  expect(late.archiver).toMatchObject({ status: 'ok', metric_line: expect.stringMatching(/^WAL was last/) });
  expect(late.backup).toMatchObject({
    status: 'critical',
    metric_line: expect.stringContaining('is expected within'),
  });
  await reportAfter(25);
  expect((await check()).backup?.status).not.toBe('critical');
});

test('Barman: a backup has its time and size, and one that breaks off is a failure', async () => {
  const report = await connection('barman');
  const list = async () => (await postgres.barman('--format', 'json', 'list-backup', 'main')).stdout;
  await expect
    .poll(
      async () => {
        await postgres.barman('cron');
        await postgres.barman('switch-wal', '--force', '--archive', '--archive-timeout', '10', 'main');
        return (await postgres.barman('check', 'main')).status;
      },
      { interval: 1_000 },
    )
    .toBe(0);
  expect(await postgres.barman('backup', 'main')).toMatchObject({ status: 0 });
  const first = await report('barman', await list());
  expect(first).toMatchObject({ read: 1, added: 1, listed: [{ source: 'barman', succeeded: true }] });
  expect(Math.abs(Date.parse(first.listed[0]?.at ?? '') - Date.now())).toBeLessThan(120_000);
  expect(first.listed[0]?.bytes).toBeGreaterThan(5_000_000);

  await postgres.query('create table unread as select 1');
  await postgres.damage('unread', 'file');
  expect((await postgres.barman('backup', 'main')).status).not.toBe(0);
  const text = await list();
  // As where the operator reads it: Barman names a failed backup in the time of its machine, here UTC.
  const parsed = parseReport('barman', { text });
  expect(parsed.map(({ succeeded }) => succeeded).toSorted()).toEqual([false, true]);
  const failed = parsed.find(({ succeeded }) => !succeeded);
  expect(failed).toMatchObject({ bytes: null, label: expect.stringMatching(/^\d{8}T\d{6}$/) });
});

test('mariabackup: the history table has each backup that ended', async () => {
  const report = await connection('mariabackup');
  expect(await mariaDb.backup('one')).toMatchObject({ status: 0 });
  expect(await mariaDb.backup('two')).toMatchObject({ status: 0 });
  const table = await mariaDb.query(
    "set time_zone = '+00:00'; select uuid, start_time, end_time from mysql.mariadb_backup_history",
  );
  const { read, listed } = await report('mariabackup', table);
  expect(read).toBe(2);
  for (const { succeeded, at, bytes } of listed) {
    expect([succeeded, bytes]).toEqual([true, null]);
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(120_000);
  }
  expect(await report('mariabackup', table)).toMatchObject({ read: 2, added: 0 });
});
