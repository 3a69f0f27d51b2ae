import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { startTwoCells } from '../cells/two-cells.ts';
import {
  type Environment,
  runJson,
  type Service,
  startProcess,
  startService,
} from '../contract/running-service.ts';
import { type Fault, Seen } from './fault.ts';
import { type Answer, FLEET, type Load, quantile, startLoad } from './load.ts';
import { UNLIMITED } from './stage.ts';

/** Close to 500 requests a second on two cores: 40 loops that pause for 20 ms after each answer. */
const LOAD = { width: 40, pauseMs: 20, paths: [FLEET, '/api/v1/activity?per_page=2', '/api/v1/team/roles'] };
const PAUSE_MS = 2_000;

/** Where the command is killed: when it has printed a line that begins so, and some milliseconds later. */
const KILLS: [line: string, ms: number][] = [
  ['copying the account', 0],
  ['copied 1 rows of account', 0],
  ['copied 1 rows of account', 20],
  ['copied 5000 rows of activity', 0],
  ['copied 10000 rows of activity', 20],
  ['copied 15000 rows of activity', 0],
  ['copied 5000 rows of health_check', 0],
  ['copied 500 rows of ticket', 0],
  ['caught up', 0],
  ['caught up', 20],
  ['background work has ended', 0],
  ['background work has ended', 20],
  ['closed the log', 0],
  ['closed the log', 10],
  ['the directory says', 0],
  ['the directory says', 40],
  ['the directory says', 100],
  ['opened the log', 0],
  ['the directory leads', 0],
  ['the directory leads', 5],
];
const SHORT_KILLS = KILLS.filter((_, at) => [3, 12, 16, 17].includes(at));

interface Account {
  id: number;
  key: string;
}

interface Scene {
  roots: [pg.Client, pg.Client];
  services: [Service, Service];
  environment: Environment;
}

/** An account moves to another cell under load. */
export const accountMove: Fault = {
  fault: 'an account moves to another cell under 500 requests/s',
  figure: 'lost 0, twice 0, answered by the old cell 0; pause at most 2 s; neighbours without failures',
  provoke: (extent) =>
    onCells(async (scene, seen) => {
      const entries = extent === 'short' ? 20_000 : 1_000_000;
      const account = await addAccount(scene, 1);
      await fill(scene.roots[0], account.id, entries);
      await moveUnderLoad(scene, account, entries, seen);
    }),
};

/** The command is killed at many points, and the move finished or undone. */
export const accountMoveKill: Fault = {
  fault: '`kill -9` of `account move` at 20 points, under load',
  figure:
    'resumed or undone whole: lost 0, twice 0, answered by the other cell 0; neighbours without failures',
  provoke: (extent) =>
    onCells(async (scene, seen) => {
      const account = await addAccount(scene, 1);
      await fill(scene.roots[0], account.id, 20_000);
      await killMoves(scene, account, extent === 'short' ? SHORT_KILLS : KILLS, seen);
    }),
};

/** Starts two cells and two services on both, with an account in each cell that nobody moves. */
async function onCells(act: (scene: Scene, seen: Seen) => Promise<void>): Promise<Seen> {
  const cells = await startTwoCells();
  const services: Service[] = [];
  try {
    const { environment } = cells;
    for (let n = 0; n < 2; n += 1) services.push(await startService(environment, ['--no-monitor']));
    const [one, two] = services;
    if (!one || !two) throw new Error('no services');
    const roots: [pg.Client, pg.Client] = [
      await cells.first.superuser('store'),
      await cells.second.superuser('store'),
    ];
    const scene: Scene = { roots, services: [one, two], environment };
    const neighbours = [await addAccount(scene, 1), await addAccount(scene, 2)];
    const loads = neighbours.map(({ key }) => loadOf(scene, key, { width: 2, pauseMs: 50 }));
    const seen = new Seen();
    await act(scene, seen);
    await Promise.all(loads.map((load) => load.stop()));
    const failures = loads.flatMap(({ answers }) => answers.filter(({ status }) => status !== 200)).length;
    return seen.none(failures + loads.reduce((sum, { broken }) => sum + broken, 0), "neighbours' failures");
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await cells.stop();
  }
}

async function addAccount({ environment }: Scene, cell: number): Promise<Account> {
  const named = ['--name', 'Moves', '--plan', 'enterprise', ...UNLIMITED, '--cell', `${cell}`];
  const { id } = await runJson<{ id: number }>(['account', 'create', ...named], environment);
  const made = ['key', 'create', '--account', `${id}`, '--name', 'faults'];
  return { id, key: (await runJson<{ key: string }>(made, environment)).key };
}

/** Gives the account a log of so many entries, and a connection with runs, tickets and measures. */
async function fill(root: pg.Client, id: number, entries: number): Promise<void> {
  await root.query(`
    insert into activity (account_id, id, occurred_at, action_type, page_path, request_id, api_key_id, status, method, source_ip, user_agent)
      select ${id}, last_id + n, last_at + n * interval '1 microsecond', 'api_request', '/api/v1/health/fleet', gen_random_uuid(), 1, 200,
             'GET', '192.0.2.7', 'curl/8.7.1'
        from activity_head, generate_series(1, ${entries}) n where account_id = ${id};
    update activity_head set last_id = last_id + ${entries}, last_at = last_at + ${entries} * interval '1 microsecond' where account_id = ${id};
    insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
      values (${id}, 'shop', 'postgres', 'direct', 'db.example.com', 5432, 'shop', 'watcher', 'verify-full', now());
    insert into health_check (account_id, connection_id, score, summary_text, created_at, findings)
      select account_id, connection_id, 90, 'run', now() - n * interval '1 min', '[]'
        from connection, generate_series(1, 7000) n where account_id = ${id};
    insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line, remediation,
                        first_seen_at, last_seen_at, number, connection_number)
      select account_id, connection_id, 'PG_TEST', 'table ' || n, 'schema', 'Test', 'warning', 'open', 'm', 'r', now(), now(), n, n
        from connection, generate_series(1, 500) n where account_id = ${id};
    insert into measure_hour (account_id, connection_id, series_id, day, last)
      select account_id, connection_id, s, current_date - d, array_fill(1::real, array[24])
        from connection, generate_series(1, ${entries / 2000}) s, generate_series(0, 59) d where account_id = ${id};
    analyze activity`);
}

function loadOf({ services }: Scene, key: string, options: Parameters<typeof startLoad>[2]): Load {
  return startLoad(key, (loop) => services[loop % 2 === 0 ? 0 : 1].origin, options);
}

async function moveUnderLoad(scene: Scene, account: Account, entries: number, seen: Seen): Promise<void> {
  const load = loadOf(scene, account.key, LOAD);
  await wait(3_000);
  const began = performance.now();
  const { paused_ms } = await runJson<{ paused_ms: number }>(
    ['account', 'move', `${account.id}`, '--to', '2'],
    scene.environment,
  );
  const took = performance.now() - began;
  const switched = performance.now();
  await wait(3_000);
  await load.stop();
  const during = load.answers.filter(({ started }) => started > began && started < switched);
  seen
    .atLeast(entries, entries, 'entries')
    .atLeast(during.length / (took / 1_000), 300, 'requests/s')
    .holds(`moved in ${Math.round(took / 1_000)} s`, true)
    .atMost(pauseOf(load.answers), PAUSE_MS, 'pause', ' ms')
    .atMost(paused_ms, PAUSE_MS, 'by the command', ' ms');
  await judgeLog(scene, account, load, seen);
  const late = load.answers.filter(({ started }) => started > switched);
  seen.none(late.filter(({ status }) => status !== 200).length, 'failures after the switch');
  await judgeSeals(scene, account, seen);
}

/** From the first 500 to the end of the last, in milliseconds. */
function pauseOf(answers: readonly Answer[]): number {
  const failed = answers.filter(({ status }) => status === 500);
  if (failed.length === 0) return 0;
  return (
    Math.max(...failed.map(({ started, ms }) => started + ms)) -
    Math.min(...failed.map(({ started }) => started))
  );
}

/** Compares the log of the cell that the account lives in with the answers, and with the copy in the other cell. */
async function judgeLog({ roots }: Scene, { id }: Account, load: Load, seen: Seen): Promise<void> {
  const place = await roots[0].query('select cell_id from directory_account where account_id = $1', [id]);
  const [home, other] = place.rows[0].cell_id === 1 ? roots : roots.toReversed();
  if (!home || !other) throw new Error('no cells');
  const answered = load.answers.filter(({ status }) => status === 200).map((answer) => answer.id);
  const { rows } = await home.query(
    `select (select count(*) from unnest($2::uuid[]) as p (id)
              where not exists (select from activity where account_id = $1 and request_id = p.id))::int as missing,
            (select count(*) - count(distinct request_id) from activity where account_id = $1 and request_id is not null)::int as twice,
            (select h.last_id - count(*) from activity a where account_id = $1)::int as gaps,
            (select count(*) from (select occurred_at <= lag(occurred_at) over (order by id) as late from activity
                                    where account_id = $1) s where late)::int as late
       from activity_head h where account_id = $1`,
    [id, answered],
  );
  const [log = { missing: -1, twice: -1, gaps: -1, late: -1 }] = rows;
  const known = await home.query('select max(id) as id from activity where account_id = $1', [id]);
  const left = await other.query(
    'select request_id::text as id from activity where account_id = $1 and request_id = any($2::uuid[])',
    [id, answered],
  );
  const moved = await home.query(
    'select count(*)::int as rows from activity where account_id = $1 and request_id = any($2::uuid[])',
    [id, left.rows.map((row) => row.id)],
  );
  const heads = await other.query('select from activity_head where account_id = $1', [id]);
  seen
    .none(log.missing, 'lost')
    .none(log.twice, 'twice')
    .none(log.gaps, 'gaps')
    .none(log.late, 'out of order')
    .none(left.rows.length - moved.rows[0].rows, 'answered by the old cell')
    .none(heads.rowCount ?? -1, 'heads in the old cell')
    .none(load.odd.length + load.answers.filter(({ status }) => status === 401).length, 'odd answers')
    .none(load.broken, 'broken')
    .holds(`${answered.length} answered, log at ${known.rows[0].id}`, answered.length > 0);
}

async function judgeSeals({ environment }: Scene, { id }: Account, seen: Seen): Promise<void> {
  await runJson(['activity', 'seal', '--account', `${id}`], environment);
  const verdict = await runJson<{ verified: boolean }>(
    ['activity', 'verify', '--account', `${id}`],
    environment,
  );
  seen.holds('the log verifies', verdict.verified);
}

async function killMoves(scene: Scene, account: Account, kills: typeof KILLS, seen: Seen): Promise<void> {
  const load = loadOf(scene, account.key, { ...LOAD, width: 4 });
  const move = (...how: string[]) => runJson(['account', 'move', `${account.id}`, ...how], scene.environment);
  const pauses: number[] = [];
  let killed = 0;
  let [resumed, undone] = [0, 0];
  for (const [at, [line, ms]] of kills.entries()) {
    const home = await homeOf(scene, account);
    const to = `${3 - home}`;
    const command = startProcess(['account', 'move', `${account.id}`, '--to', to], scene.environment);
    await command.says(new RegExp(`^${line}`, 'm'), 120);
    await wait(ms);
    if ((await command.stop('SIGKILL')) === null) killed += 1;
    const isThere = (await homeOf(scene, account)) !== home;
    if (at % 2 === 0 || isThere) {
      // A move that is complete says so, and any other is finished.
      await move('--to', to).catch((error: unknown) => {
        if (!`${error}`.includes(`lives in cell ${to} already`)) throw error;
      });
      resumed += 1;
      await move('--forget');
    } else {
      await move('--undo');
      undone += 1;
    }
    const now = load.answers.length;
    await wait(500);
    const after = load.answers.slice(now).filter(({ started }) => started > performance.now() - 400);
    pauses.push(after.filter(({ status }) => status !== 200).length);
  }
  await load.stop();
  seen
    .atLeast(killed, kills.length - 2, 'killed')
    .holds(`resumed ${resumed}, undone ${undone}`, resumed + undone === kills.length)
    .none(quantile(pauses, 1), 'failures after each');
  await judgeLog(scene, account, load, seen);
  await judgeSeals(scene, account, seen);
}

async function homeOf({ roots }: Scene, { id }: Account): Promise<number> {
  const { rows } = await roots[0].query<{ cell_id: number }>(
    'select cell_id from directory_account where account_id = $1',
    [id],
  );
  return rows[0]?.cell_id ?? 0;
}
