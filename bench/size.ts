import { askOnce, medianTimes } from './ask.ts';
import { memoryOf, postgresOf } from './cost.ts';
import { atMost, type Figure, under } from './figure.ts';
import { fillAccounts, HISTORY_DAYS } from './fill-accounts.ts';
import { activityPages, inTurn, messages } from './mixes.ts';
import { type Contestant, compare, type LoadSize, type Standing } from './rounds.ts';
import type { SeededAccount } from './seed.ts';
import { makeDataDir, type Server, startService } from './servers.ts';
import { measureTicketsAndFleet } from './tickets-and-fleet.ts';

const SIZES = [10_000, 100_000, 1_000_000, 10_000_000];
const TIMES = 200;

/** The median time in milliseconds of a request to each account, the smallest account first. */
export interface CostAgainstSize {
  name: string;
  medians: number[];
}

/** The results of the accounts of all sizes. */
export interface SizeResults {
  /** How long `sample-data` took for the largest account. */
  seconds: number;
  /** Entries of the accounts. */
  sizes: number[];
  costs: CostAgainstSize[];
  standings: Standing[];
  figures: Figure[];
  /** Memory of the service at its peak, in MB. */
  memory: number;
}

/** Measures one store with accounts of 10,000 entries and 10, 100 and 1,000 times that, up to `most`. */
export async function measureSize(
  say: (step: string) => void,
  most: number,
  bare: Contestant,
  load: LoadSize,
): Promise<SizeResults> {
  const sizes = SIZES.filter((size) => size <= most);
  const dataDir = makeDataDir();
  const { accounts, seconds, bytes } = await fillAccounts(say, dataDir, sizes);
  const largest = accounts.at(-1) ?? { id: 0, keys: [] };
  const service = await startService(dataDir);

  say(`activity: ${TIMES} times each page, of each size in turn`);
  const costs = await measureActivity(service, accounts);
  const [first, last] = [sizes[0] ?? 0, sizes.at(-1) ?? 0].map((size) => size.toLocaleString('en-US'));
  const growths = costs.map(({ name, medians }) => ({
    name,
    growth: (medians.at(-1) ?? 0) / (medians[0] ?? 1),
  }));
  const steepest = growths.toSorted((a, b) => b.growth - a.growth)[0] ?? { name: '', growth: 0 };
  const slowest = costs.toSorted((a, b) => (b.medians.at(-1) ?? 0) - (a.medians.at(-1) ?? 0))[0];

  say('tickets, statistics, fleet');
  const others = await measureTicketsAndFleet(service, largest.keys[0] ?? '', HISTORY_DAYS);

  say(`pages of the largest log by 50 keys: ${load.rounds} rounds of ${load.seconds} s`);
  const paths = await pagesOf(service, largest);
  const mix: Contestant = {
    name: `**dbvitals**, pages of 100 of ${last} entries`,
    server: service,
    postmaster: postgresOf(dataDir),
    load: inTurn(
      messages(
        largest.keys,
        paths.map(({ path }) => path),
      ),
    ),
  };
  const standings = (await compare([bare, mix], { ...load, connections: load.readers })).slice(1);
  const memory = memoryOf(service.pid).peak;
  await service.stop();
  const figures = [
    atMost(
      `activity of ${last} entries against ${first}: each page, median`,
      1.5,
      steepest.growth,
      ` (${steepest.name})`,
    ),
    under(
      `activity of ${last} entries: each page, median`,
      5,
      slowest?.medians.at(-1) ?? 0,
      'ms',
      ` (${slowest?.name})`,
    ),
    ...others,
    under(
      'bytes on disk for each entry of a log of which a tenth tells of checks and tickets',
      300,
      bytes,
      'bytes',
    ),
  ];
  return { sizes, costs, standings, figures, memory, seconds };
}

function pagesOf({ port }: Server, { keys }: SeededAccount) {
  return activityPages((path) => askOnce(port, keys[0] ?? '', path), HISTORY_DAYS);
}

async function measureActivity(
  service: Server,
  accounts: readonly SeededAccount[],
): Promise<CostAgainstSize[]> {
  const pages = await Promise.all(accounts.map((account) => pagesOf(service, account)));
  const costs: CostAgainstSize[] = [];
  for (const [n, { name }] of (pages[0] ?? []).entries()) {
    const questions = accounts.map(({ keys }, which) => ({
      key: keys[0] ?? '',
      path: () => pages[which]?.[n]?.path ?? '',
    }));
    costs.push({ name, medians: await medianTimes(service.port, questions, TIMES) });
  }
  return costs;
}
