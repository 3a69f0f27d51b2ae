import {
  type Dashboard,
  type Measured,
  startDashboard,
  startEndpointOne,
  startMeasured,
  startUnrecorded,
} from './contestants.ts';
import { memoryOf } from './cost.ts';
import { atLeast, atMost, type Figure, under } from './figure.ts';
import { loadSteadily } from './load.ts';
import { type GeneralStanding, measureGeneral } from './reads/general.ts';
import { measureReads, type ReadStandings, readFigures } from './reads/measure-reads.ts';
import { READS } from './reads/reads.ts';
import { type Contestant, compare, type LoadSize, type Standing } from './rounds.ts';
import { withStore } from './seed.ts';

const STEADY_RATE = 1_000;
const STEADY_SECONDS = 12;
const ACCOUNTS = 100;
const KEYS = 50;

/** The results of the rivals and mixes, and the bare server, which is still running. */
export interface RivalResults {
  standings: Standing[];
  reads: ReadStandings[];
  general: GeneralStanding[];
  figures: Figure[];
  /** Memory of the service at its peak, in MB. */
  memory: number;
  postgresVersion: string;
  bare: Contestant;
}

/** Measures the service and its rivals, then a steady rate, a mix, and reads. Throws as {@link checkLogs} does. */
export async function measureRivals(say: (step: string) => void, load: LoadSize): Promise<RivalResults> {
  say('accounts and servers');
  const measured = await startMeasured(ACCOUNTS, KEYS);
  const { bare, fifty, thousands } = await startEndpointOne(measured);
  const { dataDir: unrecordedDir, unrecorded } = await startUnrecorded();
  const dashboard = await startDashboard(measured);
  const before = await readLog(measured.dataDir);

  say(`endpoint 1: ${load.rounds} rounds of ${load.seconds} s each`);
  const rivals = await compare([bare, fifty, thousands, unrecorded], load);
  say('a dashboard');
  const mixes = await compare([bare, dashboard], { ...load, connections: load.readers });
  say(`${STEADY_RATE} requests a second`);
  const steady = await measureSteady(dashboard, load);
  const standings = [...rivals, ...mixes.slice(1)];
  const ours = new Set([fifty, thousands, dashboard].map(({ name }) => name));
  const answers = standings.filter(({ name }) => ours.has(name)).map((standing) => standing.answers);
  const recorded = answers.reduce((sum, count) => sum + count, steady.answers);
  const bytes = await checkLogs(measured, unrecordedDir, before, recorded);

  const reads = await measureReads(say, measured, READS, load);
  say('PostGraphile');
  const general = await measureGeneral(measured, load);
  const memory = memoryOf(measured.service.pid).peak;
  const { version } = await readLog(measured.dataDir);
  await measured.service.stop();
  await unrecorded.server.stop();
  const figures = [
    ...keptFigures('50 keys', rivals[1], { rate: 0.5, cost: 2 }),
    ...keptFigures('5,000 keys', rivals[2], { rate: 0.35, cost: 2.5 }),
    ...readFigures(reads),
    steady.figure,
    under('bytes on disk for each API request recorded, indexes and all', 300, bytes, 'bytes'),
  ];
  return { standings, reads, general, figures, memory, postgresVersion: version, bare };
}

/** Measures a dashboard's requests at a steady rate. The service should have answered some before. */
export async function measureSteady(
  { server, load: next, paths }: Dashboard,
  { connections }: Pick<LoadSize, 'connections'>,
): Promise<{ figure: Figure; answers: number }> {
  const { p99, answers } = await loadSteadily(server.port, next, {
    rate: STEADY_RATE,
    connections,
    seconds: STEADY_SECONDS,
  });
  const endpoints = paths === 8 ? 'all eight endpoints' : `all ${paths} endpoints`;
  const what = `p99 at a steady ${STEADY_RATE.toLocaleString('en-US')} requests a second of ${endpoints}`;
  return { figure: under(what, 25, p99, 'ms'), answers };
}

/** What a kept answer must reach of a bare one: the processor time decides, the rate stands beside it. */
export function keptFigures(
  keys: string,
  standing: Standing | undefined,
  reach: { rate: number; cost: number },
): Figure[] {
  if (!standing) return [];
  return [
    atMost(`endpoint 1, kept, ${keys}: Node's CPU time, of a bare answer's`, reach.cost, standing.serverCost),
    atLeast(`endpoint 1, kept, ${keys}: rate, of bare \`node:http\`'s`, reach.rate, standing.ratio),
  ];
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
  { dataDir }: Measured,
  unrecordedDir: string,
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
