import { cpuSeconds, memoryOf, serverSeconds } from './cost.ts';
import { type LoadResult, load } from './load.ts';
import { median } from './median.ts';
import type { NextRequest } from './mixes.ts';
import type { Server } from './servers.ts';

/** The size of the load. */
export interface LoadSize {
  rounds: number;
  /** Of a round. */
  seconds: number;
  connections: number;
  /** How many connections send requests that always read the store. */
  readers: number;
}

/** A server under a load. */
export interface Contestant {
  name: string;
  server: Server;
  /** The process id of its PostgreSQL; null = none. */
  postmaster: number | null;
  /** Seconds of load before the first round. Default: those of a round. */
  warmUp?: number;
  /** Its requests, or a load of another kind that ends after some seconds. */
  load: NextRequest | { repeat: (load: { connections: number; seconds: number }) => Promise<LoadResult> };
}

/** A contestant's result: medians of the rounds. */
export interface Standing {
  name: string;
  /** Its rate relative to the first contestant's rate in the same round. */
  ratio: number;
  /** The first contestant's processor time per answer, server and PostgreSQL, relative to its own in the same round. */
  thrift: number;
  /** The server's processor time per answer relative to that of the first contestant's server in the same round. */
  serverCost: number;
  rate: number;
  p50: number;
  p99: number;
  /** Processor time per answer, in microseconds: server, PostgreSQL, load. */
  cpu: [server: number, postgres: number, load: number];
  /** The server's resident memory at the end of a round, in MB. */
  memory: number;
  /** All answers, including the warm-up. */
  answers: number;
}

type Round = LoadResult & Pick<Standing, 'cpu' | 'memory'>;
type Compared = Round & Pick<Standing, 'ratio' | 'thrift' | 'serverCost'>;

/** Warms the contestants up, then loads one at a time, alternating the order between rounds. */
export async function compare(
  contestants: readonly Contestant[],
  { rounds, seconds, connections }: Omit<LoadSize, 'readers'>,
): Promise<Standing[]> {
  const results = new Map(contestants.map((contestant) => [contestant, [] as Compared[]]));
  const answers = new Map<Contestant, number>();
  for (let round = 0; round <= rounds; round += 1) {
    const seen = new Map<Contestant, Round>();
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const warmUp = Math.max(seconds, contestant.warmUp ?? 0);
      const result = await loadOnce(contestant, { connections, seconds: round === 0 ? warmUp : seconds });
      seen.set(contestant, result);
      answers.set(contestant, (answers.get(contestant) ?? 0) + result.answers);
    }
    if (round === 0) continue;
    const [first] = contestants.flatMap((contestant) => seen.get(contestant) ?? []);
    for (const [contestant, result] of seen)
      if (first) results.get(contestant)?.push(compareWith(first, result));
  }
  return [...results].map(([contestant, runs]) => {
    const middle = (of: (run: Compared) => number) => median(runs.map(of));
    return {
      name: contestant.name,
      ratio: middle(({ ratio }) => ratio),
      thrift: middle(({ thrift }) => thrift),
      serverCost: middle(({ serverCost }) => serverCost),
      rate: middle(({ rate }) => rate),
      p50: middle(({ p50 }) => p50),
      p99: middle(({ p99 }) => p99),
      cpu: [middle(({ cpu }) => cpu[0]), middle(({ cpu }) => cpu[1]), middle(({ cpu }) => cpu[2])],
      memory: middle(({ memory }) => memory),
      answers: answers.get(contestant) ?? 0,
    };
  });
}

function compareWith(first: Round, round: Round): Compared {
  const cost = ({ cpu: [server, postgres] }: Round) => server + postgres;
  return {
    ...round,
    ratio: round.rate / first.rate,
    thrift: cost(first) / cost(round),
    serverCost: round.cpu[0] / first.cpu[0],
  };
}

async function loadOnce(
  { server, postmaster, load: work }: Contestant,
  options: { connections: number; seconds: number },
): Promise<Round> {
  const spent = () => [
    cpuSeconds(server.pid),
    postmaster === null ? 0 : serverSeconds(postmaster),
    cpuSeconds(process.pid),
  ];
  const before = spent();
  const result = await (typeof work === 'function' ? load(server.port, work, options) : work.repeat(options));
  const [ofServer = 0, ofPostgres = 0, ofLoad = 0] = spent().map(
    (seconds, n) => ((seconds - (before[n] ?? 0)) * 1e6) / result.answers,
  );
  return { ...result, cpu: [ofServer, ofPostgres, ofLoad], memory: memoryOf(server.pid).now };
}
