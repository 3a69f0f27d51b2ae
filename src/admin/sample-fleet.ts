import type { Catalogue, RunFinding, RunOutcome } from './command.ts';
import { SAMPLE_FAULTS, SAMPLE_SYSTEMS, SAMPLE_TABLES, type SampleFault } from './sample-faults.ts';
import { sampleOkLine } from './sample-ok-lines.ts';

/** How much sample data; `days` is how far back its history goes. */
export interface SampleSize {
  connections: number;
  tickets: number;
  activity: number;
  days: number;
}

/** A ticket of sample data: found by the runs from `first` on, and by those before `end`; never after the last run. */
interface SampleTicket {
  finding: RunFinding;
  first: number;
  /** The run that no longer finds it; null = it is open. */
  end: number | null;
}

/** A connection of sample data. Instants are shares of the whole history, 0 to 1. */
export interface SampleConnection {
  name: string;
  host: string;
  tickets: SampleTicket[];
  runs: number[];
  /** Check and object of its tickets: none is found twice, so that no two tickets are of the same thing. */
  taken: Set<string>;
}

/** The most health checks that a history of many connections is made of; longer times between them from there on. */
const MOST_RUNS = 20_000;
const RUNS_A_DAY = 4;
const LEAST_RUNS = 28;
const OPEN_SHARE = 0.1; // of the tickets stay open

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The connections of a company with their runs and tickets, the same for the same seed and size. */
export function planFleet(size: SampleSize, seed: number, checks: Catalogue['checks']): SampleConnection[] {
  const random = randomNumbers(seed);
  const wanted = Math.max(LEAST_RUNS, Math.floor(size.days * RUNS_A_DAY));
  const count = Math.max(4, Math.min(wanted, Math.floor(MOST_RUNS / size.connections)));
  const fleet = Array.from({ length: size.connections }, (_, n): SampleConnection => {
    const system = pick(SAMPLE_SYSTEMS, n / SAMPLE_SYSTEMS.length);
    const number = Math.floor(n / SAMPLE_SYSTEMS.length) + 1;
    const first = random();
    return {
      name: number === 1 ? `${system} primary` : `${system} replica ${number - 1}`,
      host: `${system}-${number}.db.example.com`,
      tickets: [],
      taken: new Set(),
      runs: Array.from({ length: count }, (_, run) => (run + first * 0.9 + random() * 0.09) / count),
    };
  });
  for (let n = 0; n < size.tickets; n++) {
    const connection = pick(fleet, random());
    connection.tickets.push(planTicket(connection, random, checks));
  }
  return fleet;
}

function planTicket(
  { tickets, runs, taken }: SampleConnection,
  random: () => number,
  checks: Catalogue['checks'],
): SampleTicket {
  const used = tickets.length;
  const table = `${pick(SAMPLE_TABLES, random())}${used < SAMPLE_TABLES.length ? '' : `_${used}`}`;
  const place = (fault: SampleFault) => `${fault.checkId} ${fault.object(table) ?? ''}`;
  const start = Math.floor(random() * SAMPLE_FAULTS.length);
  const faults = SAMPLE_FAULTS.map((_, n) => SAMPLE_FAULTS[(start + n) % SAMPLE_FAULTS.length]);
  const fault = faults.find((one) => one !== undefined && !taken.has(place(one)));
  const check = checks.find(({ id }) => id === fault?.checkId);
  if (!fault || !check) throw new Error('The catalogue lacks a check that sample data needs.');
  taken.add(place(fault));
  const severity = pick(fault.severities, random());
  const first = Math.floor(random() * runs.length);
  const lasts = 1 + Math.floor(-3 * Math.log(1 - random()));
  const stays = random() < OPEN_SHARE || first + lasts >= runs.length;
  return {
    finding: {
      check_id: check.id,
      category: check.category,
      status: severity,
      title: check.title,
      metric_line: fault.metricLine(table, Math.floor(random() * 100), severity),
      remediation: fault.remediation(table),
      severity,
      database: fault.database,
      object: fault.object(table),
    },
    first,
    end: stays ? null : first + lasts,
  };
}

/** What a run found out about each check that is shipped. */
export function outcomesOf(
  { tickets }: SampleConnection,
  run: number,
  checks: Catalogue['checks'],
): RunOutcome[] {
  const standing = tickets.filter(({ first, end }) => first <= run && (end === null || run < end));
  return checks.map((check) => {
    const { id: check_id, category, title, worst: severity } = check;
    const faults = standing.map(({ finding }) => finding).filter((finding) => finding.check_id === check_id);
    const fine: RunFinding = {
      ...{ check_id, category, status: 'ok', title, metric_line: sampleOkLine(check_id), remediation: '' },
      ...{ severity, database: '', object: null },
    };
    return { check, findings: faults.length > 0 ? faults : [fine], whole: true, unmeasured: [] };
  });
}

function pick<T>(list: readonly T[], share: number): T {
  const item = list[Math.floor((share % 1) * list.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
}
