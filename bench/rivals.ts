import { type Contestants, startContestants } from './contestants.ts';
import { memoryOf } from './cost.ts';
import { atLeast, type Figure, under } from './figure.ts';
import { loadSteadily } from './load.ts';
import { type Contestant, compare, type LoadSize, type Standing } from './rounds.ts';
import { withStore } from './seed.ts';

const STEADY_RATE = 1_000;

/** The results of the rivals and mixes, and the bare server, which is still running. */
export interface RivalResults {
  standings: Standing[];
  figures: Figure[];
  /** Memory of the service at its peak, in MB. */
  memory: number;
  postgresVersion: string;
  bare: Contestant;
}

/** Measures the service and its rivals, then a steady rate, then mixes. Throws as {@link checkLogs} does. */
export async function measureRivals(say: (step: string) => void, load: LoadSize): Promise<RivalResults> {
  say('accounts and servers');
  const contestants = await startContestants();
  const { bare, fifty, thousands, unrecorded, plain, dashboard, pages } = contestants;
  const before = await readLog(contestants.dataDir);

  say(`rivals: ${load.rounds} rounds of ${load.seconds} s each`);
  const rivals = await compare([bare, fifty, thousands, unrecorded, plain], load);
  say(`${STEADY_RATE} requests a second`);
  const steady = await loadSteadily(fifty.server.port, fifty.requests, {
    ...{ rate: STEADY_RATE, connections: load.connections, seconds: 4 * load.seconds },
  });
  say('mixes');
  const mixes = await compare([bare, dashboard, pages], { ...load, connections: load.readers });

  const standings = [...rivals, ...mixes.slice(1)];
  const ours = new Set([fifty, thousands, dashboard, pages].map(({ name }) => name));
  const answers = standings.filter(({ name }) => ours.has(name)).map((standing) => standing.answers);
  const recorded = answers.reduce((sum, count) => sum + count, steady.answers);
  const bytes = await checkLogs(contestants, before, recorded);
  const ratio = (of: Contestant) => rivals.find(({ name }) => name === of.name)?.ratio ?? 0;
  const figures = [
    atLeast('endpoint 1, 50 keys, all recorded: of bare `node:http`', 0.5, ratio(fifty)),
    atLeast('endpoint 1, 5,000 keys, all recorded: of bare `node:http`', 0.35, ratio(thousands)),
    under(`p99 at a steady ${STEADY_RATE.toLocaleString('en-US')} requests a second`, 25, steady.p99, 'ms'),
    under('bytes on disk for each API request recorded, indexes and all', 300, bytes, 'bytes'),
  ];
  const memory = memoryOf(fifty.server.pid).peak;
  const { version } = await readLog(contestants.dataDir);
  await contestants.stop();
  return { standings, figures, memory, postgresVersion: version, bare };
}

interface Log {
  /** Of API requests that came over HTTP. */
  entries: number;
  bytes: number;
  /** PostgreSQL's. */
  version: string;
}

/**
 * Returns the bytes per recorded request. Throws unless the service recorded exactly the requests that it answered, and
 * the service that records nothing recorded none.
 */
async function checkLogs(
  { dataDir, unrecordedDir }: Contestants,
  before: Log,
  answered: number,
): Promise<number> {
  const after = await readLog(dataDir);
  const recorded = after.entries - before.entries;
  if (recorded !== answered) throw new Error(`${answered} answers left ${recorded} entries.`);
  const { entries } = await readLog(unrecordedDir);
  if (entries > 0) throw new Error(`The service that records nothing recorded ${entries} requests.`);
  return (after.bytes - before.bytes) / recorded;
}

// Requests in sample data have a revoked key.
const describeLog = `
  select count(*)::int as entries,
         pg_total_relation_size('activity')::float8 as bytes,
         current_setting('server_version') as version
    from activity a
    join api_key k using (account_id, api_key_id)
   where a.action_type = 'api_request'
     and k.revoked_at is null`;

function readLog(dataDir: string): Promise<Log> {
  return withStore(dataDir, async (writer) => {
    const { rows } = await writer.query<Log>(describeLog);
    return rows[0] ?? { entries: 0, bytes: 0, version: '' };
  });
}
