import { cpuSeconds, memoryOf, postgresSeconds } from './cost.ts';
import { type LoadResult, load } from './load.ts';
import { median } from './median.ts';
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
  requests: readonly string[];
}

/** A contestant's result: medians of the rounds. */
export interface Standing {
  name: string;
  /** Its rate relative to the first contestant's rate in the same round. */
  ratio: number;
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

type Round = LoadResult & Pick<Standing, 'ratio' | 'cpu' | 'memory'>;

/** Warms the contestants up, then loads one at a time, alternating the order between rounds. */
export async function compare(
  contestants: readonly Contestant[],
  { rounds, seconds, connections }: Omit<LoadSize, 'readers'>,
): Promise<Standing[]> {
  const results = new Map(contestants.map((contestant) => [contestant, [] as Round[]]));
  const answers = new Map<Contestant, number>();
  for (let round = 0; round <= rounds; round += 1) {
    const seen = new Map<Contestant, Round>();
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const result = await loadOnce(contestant, { connections, seconds });
      seen.set(contestant, result);
      answers.set(contestant, (answers.get(contestant) ?? 0) + result.answers);
    }
    if (round === 0) continue;
    const [first = 0] = contestants.map((contestant) => seen.get(contestant)?.rate ?? 0);
    for (const [contestant, result] of seen) {
      results.get(contestant)?.push({ ...result, ratio: result.rate / first });
    }
  }
  return [...results].map(([contestant, runs]) => {
    const middle = (of: (run: Round) => number) => median(runs.map(of));
    return {
      name: contestant.name,
      ratio: middle(({ ratio }) => ratio),
      rate: middle(({ rate }) => rate),
      p50: middle(({ p50 }) => p50),
      p99: middle(({ p99 }) => p99),
      cpu: [middle(({ cpu }) => cpu[0]), middle(({ cpu }) => cpu[1]), middle(({ cpu }) => cpu[2])],
      memory: middle(({ memory }) => memory),
      answers: answers.get(contestant) ?? 0,
    };
  });
}

async function loadOnce(
  { server, postmaster, requests }: Contestant,
  options: { connections: number; seconds: number },
): Promise<Round> {
  const spent = () => [
    cpuSeconds(server.pid),
    postmaster === null ? 0 : postgresSeconds(postmaster),
    cpuSeconds(process.pid),
  ];
  const before = spent();
  const result = await load(server.port, requests, options);
  const [ofServer = 0, ofPostgres = 0, ofLoad = 0] = spent().map(
    (seconds, n) => ((seconds - (before[n] ?? 0)) * 1e6) / result.answers,
  );
  return { ...result, ratio: 1, cpu: [ofServer, ofPostgres, ofLoad], memory: memoryOf(server.pid).now };
}
