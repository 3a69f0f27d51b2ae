import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { command, commandJson } from './command.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Connection, time } from './records.ts';

const CHECK = 'PG_SHARED_BUFFERS_LOW';
const METRIC = 'shared_buffers_bytes';

interface Latest {
  measured_at: string | null;
  dropped: number;
  measures: { series_id: number; check_id: string; metric: string; value: number }[];
}

interface Shown {
  metric: string;
  resolution: string;
  at: number[];
  last: (number | null)[];
}

async function newConnection(): Promise<string> {
  const { id: account } = await makeAccount();
  const { id } = await fixtureJson<Connection>([
    'connection',
    'add',
    '--account',
    String(account),
    '--name',
    'store',
    '--tls',
    'disable',
    '--url',
    inject('sharedStore')['DATABASE_URL'] ?? '',
  ]);
  return String(id);
}

/** A connection to the suite's store after two health checks. */
async function measuredConnection(): Promise<string> {
  const connection = await newConnection();
  for (let run = 0; run < 2; run++) await fixtureJson(['check', 'run', '--connection', connection]);
  return connection;
}

const measured = measuredConnection();

test('"measures list" prints the values of the latest run', async () => {
  const connection = await measured;
  const list = ['measures', 'list', '--connection', connection];
  const { measured_at, measures } = await commandJson<Latest>(list);
  expect(measured_at).toEqual(time);
  expect(measures.find(({ check_id }) => check_id === CHECK)).toMatchObject({
    metric: METRIC,
    database: '',
    object: null,
    value: expect.any(Number),
    operator: '<=',
    warning: expect.any(Number),
    critical: null,
    forecast: null,
  });
  const { stdout, exit } = await command(list);
  expect(exit).toBe(0);
  expect(stdout).toMatch(
    /^Measured at \S+Z\.\n\ncheck id +metric +database +object +value +warning +critical +full\n/,
  );
  expect(stdout).toMatch(/\nPG_SHARED_BUFFERS_LOW +shared_buffers_bytes +- +[1-9]/);
});

test('"measures show" prints a value for each run, as a table, lines of JSON or CSV', async () => {
  const connection = await measured;
  const show = ['measures', 'show', '--connection', connection, '--metric', METRIC];
  const [series] = await commandJson<Shown[]>(show);
  expect(series).toMatchObject({ metric: METRIC, resolution: 'run' });
  expect(series?.at).toHaveLength(2);
  const values = series?.last.map(String);

  const table = await command(show);
  const [heading, columns, ...rows] = table.stdout.trimEnd().split('\n');
  expect(heading).toBe(`${CHECK} ${METRIC}, by run`);
  expect(columns).toMatch(/^at +last$/);
  expect(rows.map((row) => row.split(/ +/)[1])).toEqual(values);

  const lines = await command([...show, '--format', 'ndjson']);
  const points = lines.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(points.map(({ last }) => String(last))).toEqual(values);
  expect(points[0]).toEqual({
    at: time,
    check_id: CHECK,
    metric: METRIC,
    database: '',
    object: null,
    last: expect.any(Number),
  });

  const csv = await command([...show, '--format', 'csv']);
  const [names, first, second, ...rest] = csv.stdout.split('\r\n');
  expect(names).toBe('at,check_id,metric,database,object,last,minimum,mean,maximum');
  expect([first, second].map((line) => line?.split(',')[5])).toEqual(values);
  expect(rest).toEqual(['']);

  const days = await commandJson<Shown[]>([...show, '--from', '90d']);
  expect(days[0]?.resolution).toBe('day');
  expect(await commandJson<Shown[]>([...show, '--from', '2001-01-01', '--to', '2001-01-02'])).toEqual([]);
});

test('a wrong metric, object or range is one sentence that says what to do', async () => {
  const connection = await measured;
  const errorOf = async (...args: string[]) => {
    const { exit, stdout, stderr } = await command(['measures', 'show', '--connection', connection, ...args]);
    expect(stdout).toBe('');
    return [exit, stderr];
  };
  const list = `"measures list --connection ${connection}" lists them`;
  expect(await errorOf('--metric', 'shared_bufers_bytes')).toEqual([
    1,
    `error: Connection ${connection} has no such metric: ${list}. Did you mean ${METRIC}?\n`,
  ]);
  expect(await errorOf('--metric', 'zzz')).toEqual([
    1,
    `error: Connection ${connection} has no such metric: ${list}.\n`,
  ]);
  expect(await errorOf('--metric', METRIC, '--object', 'public.orders')).toEqual([
    1,
    `error: Connection ${connection} has no ${METRIC} of this database or object: ${list}.\n`,
  ]);
  expect(await errorOf('--metric', METRIC, '--from', '1h', '--to', '2h')).toEqual([
    2,
    'error: --from must not be later than --to.\n',
  ]);
  expect(await errorOf('--metric', METRIC, '--from', 'soon')).toEqual([
    2,
    'error: --from must be a date such as 2030-01-31, a date-time such as 2030-01-31T18:00:00Z, or a duration ago such as 7d.\n',
  ]);
});

test('before the first run, there is nothing to list', async () => {
  const connection = await newConnection();
  const list = ['measures', 'list', '--connection', connection];
  expect(await commandJson(list)).toEqual({ measured_at: null, dropped: 0, measures: [] });
  expect(await command(list)).toEqual({
    exit: 1,
    stdout: '',
    stderr: 'error: Nothing has been measured yet: "check run --connection ID" does it now.\n',
  });
  expect(await commandJson(['changes', 'list', '--connection', connection])).toEqual([]);
});

test('"changes list" prints what a member changed, newest first', async () => {
  const connection = await newConnection();
  for (const check of ['PG_DEAD_TUPLES', 'PG_DEADLOCKS']) {
    await fixtureJson([
      'silence',
      'add',
      '--connection',
      connection,
      '--check',
      check,
      '--reason',
      'accepted_risk',
      '--note',
      'a small machine',
    ]);
  }
  const list = ['changes', 'list', '--connection', connection];
  const changes = await commandJson<{ at: string; kind: string; subject: string }[]>(list);
  expect(changes).toMatchObject([
    { at: expect.any(String), kind: 'silence', subject: 'Many deadlocks', before: null },
    { at: expect.any(String), kind: 'silence', subject: 'Table with many dead rows', before: null },
  ]);
  expect(await commandJson([...list, '--limit', '1'])).toEqual(changes.slice(0, 1));
  for (const change of changes)
    expect(await commandJson([...list, '--from', change.at, '--to', change.at])).toEqual([change]);
  expect(await commandJson([...list, '--to', '1h'])).toEqual([]);
  const { stdout } = await command(list);
  expect(stdout).toMatch(/^at +kind +database +subject +before +after +source\n\S+Z +silence /);
});
