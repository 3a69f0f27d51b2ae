import type pg from 'pg';
import { inTransaction } from '../../store/connect.ts';
import type { Catalogue } from '../command.ts';
import { type SampleConnection, type SampleFleet, sampleVersion } from './sample-connection.ts';
import { type History, runInstant, SAMPLE_PORTS } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';
import { type RunReport, runReporter } from './sample-runs.ts';
import { insertRows, type SampleTarget, toTimestamp } from './sample-target.ts';
import { runsOf } from './sample-tickets.ts';

// Many runs have the same report, which is sent once. A report without findings has only a score.
const insertRuns = `
  insert into health_check (account_id, connection_id, score, summary_text, created_at, findings)
  select $1, ($2::bigint[])[r.place], score, summary_text, timestamptz 'epoch' + r.at * interval '1 microsecond', findings
    from unnest($3::int[], $4::bigint[], $5::int[]) with ordinality as r (place, at, report, n)
    join unnest($6::int[], $7::text[], $8::jsonb[]) with ordinality as p (score, summary_text, findings, report)
      using (report)
   order by r.n
  returning health_check_id as id`;

const setLatest = `
  update connection c
     set latest_check_id = latest.id
    from unnest($2::bigint[], $3::bigint[]) as latest (connection_id, id)
   where c.account_id = $1 and c.connection_id = latest.connection_id`;

const RUNS_A_TRANSACTION = 1_000;
const WHOLE_DAYS = 7; // as long as the service keeps findings
const DAY_US = 86_400_000_000;

/** The written fleet: the ids of its connections and of its newest runs. */
export interface WrittenFleet {
  connectionIds: number[];
  /** A run for the log. Throws if it is older than the remembered runs. */
  runOf(place: number, run: number): { id: number; score: number };
}

/**
 * Writes the connections, several per transaction, each with all its runs. Runs of the last seven days and the latest
 * run have findings, older ones only a score. Remembers the newest runs for the log.
 */
export async function writeFleet(
  target: SampleTarget,
  fleet: SampleFleet,
  catalogue: Catalogue,
  { logged, step }: { logged: number; step: SampleStep },
): Promise<WrittenFleet> {
  const { connections, runs } = fleet;
  const kept = Math.min(runs, Math.ceil(logged / Math.max(1, connections.length)) + 1);
  const ids = new Float64Array(kept * connections.length);
  const scores = new Uint8Array(ids.length);
  const connectionIds: number[] = [];
  const reports = reporters(catalogue);
  const size = Math.max(1, Math.floor(RUNS_A_TRANSACTION / runs));
  for (let first = 0; first < connections.length; first += size) {
    const some = connections.slice(first, first + size);
    const planned = planRuns(some, fleet, target.history, reports);
    const written = await inTransaction(target.writer, (client) => writeRuns(client, target, some, planned));
    connectionIds.push(...written.connectionIds);
    planned.scores.forEach((score, n) => {
      const run = n % runs;
      if (run < runs - kept) return;
      const place = (first + Math.floor(n / runs)) * kept + run - (runs - kept);
      ids[place] = written.runIds[n] ?? 0;
      scores[place] = score;
    });
    step((first + some.length) * runs, connections.length * runs);
  }
  return {
    connectionIds,
    runOf(place, run) {
      if (run < runs - kept) throw new Error('A run for the log was not remembered.');
      const n = place * kept + run - (runs - kept);
      return { id: ids[n] ?? 0, score: scores[n] ?? 0 };
    },
  };
}

/** The reporter of a connection. Those with the same checks and version share one. */
function reporters(catalogue: Catalogue) {
  const made = new Map<string, ReturnType<typeof runReporter>>();
  return (connection: SampleConnection) => {
    const { engine, hasOwnCheck } = connection;
    const name = `${engine} ${sampleVersion(connection).text} ${hasOwnCheck}`;
    const reporter = made.get(name) ?? runReporter(catalogue, connection);
    made.set(name, reporter);
    return reporter;
  };
}

/**
 * The runs of one connection after the other, as columns of equal length, and the reports that they refer to, from 1.
 */
interface PlannedRuns {
  places: number[];
  instants: number[];
  reports: number[];
  scores: number[];
  sent: RunReport[];
}

function planRuns(
  connections: readonly SampleConnection[],
  fleet: SampleFleet,
  history: History,
  reports: ReturnType<typeof reporters>,
): PlannedRuns {
  const planned: PlannedRuns = { places: [], instants: [], reports: [], scores: [], sent: [] };
  const numbers = new Map<RunReport, number>();
  const wholeSince = history.end - WHOLE_DAYS * DAY_US;
  connections.forEach((connection, place) => {
    const reportOf = reports(connection);
    let before: { tickets: unknown; whole: boolean; report: RunReport } | undefined;
    let run = 0;
    for (const { standing } of runsOf(connection, fleet)) {
      const at = runInstant(connection, run, fleet.runs, history);
      const whole = at >= wholeSince || run === fleet.runs - 1;
      if (before?.tickets !== standing || before.whole !== whole) {
        before = { tickets: standing, whole, report: reportOf(standing, whole) };
      }
      const { report } = before;
      const number = numbers.get(report) ?? planned.sent.push(report);
      numbers.set(report, number);
      planned.places.push(place + 1);
      planned.instants.push(at);
      planned.reports.push(number);
      planned.scores.push(report.score);
      run++;
    }
  });
  return planned;
}

async function writeRuns(
  client: pg.ClientBase,
  target: SampleTarget,
  connections: readonly SampleConnection[],
  { places, instants, reports, sent }: PlannedRuns,
): Promise<{ connectionIds: number[]; runIds: number[] }> {
  const { accountId } = target;
  const connectionIds = await writeConnections(client, target, connections);
  const stored = await client.query<{ id: number }>(insertRuns, [
    accountId,
    connectionIds,
    places,
    instants,
    reports,
    sent.map(({ score }) => score),
    sent.map(({ summary }) => summary),
    sent.map(({ findings }) => findings),
  ]);
  const runIds = stored.rows.map(({ id }) => id);
  const runs = runIds.length / connections.length;
  const latest = connections.map((_, place) => runIds[(place + 1) * runs - 1]);
  await client.query(setLatest, [accountId, connectionIds, latest]);
  return { connectionIds, runIds };
}

/** Without a row of the schedule: the host of a sample connection does not exist, so nothing monitors it. */
async function writeConnections(
  client: pg.ClientBase,
  { accountId: account_id, history }: SampleTarget,
  connections: readonly SampleConnection[],
): Promise<number[]> {
  const since = toTimestamp(history.start);
  const rows = connections.map(({ name, host, engine }) => ({
    account_id,
    name,
    engine,
    connection_type: 'direct',
    host,
    port: SAMPLE_PORTS[engine],
    database: engine === 'pgbouncer' ? 'pgbouncer' : 'app',
    username: 'dbvitals',
    tls: 'verify-full',
    created_at: since,
  }));
  const returning = 'connection_id as id';
  const ids = (await insertRows<{ id: number }>(client, 'connection', rows, returning)).map(({ id }) => id);
  const versions = connections.map((connection, place) => {
    const { version } = sampleVersion(connection);
    return { account_id, connection_id: ids[place], version, since };
  });
  await insertRows(client, 'connection_version', versions);
  return ids;
}
