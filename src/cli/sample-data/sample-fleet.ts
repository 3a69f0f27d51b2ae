import { SAMPLE_SYSTEMS } from './faults/sample-names.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import { randomNumber } from './sample-random.ts';
import { runsOf, type SampleTicket } from './sample-tickets.ts';

/** The amount of sample data. `days` is the length of its history. */
export interface SampleSize {
  connections: number;
  tickets: number;
  activity: number;
  days: number;
}

/** The start and end of a history, in microseconds since 1970. */
export interface History {
  start: number;
  end: number;
}

export const SAMPLE_PORTS = { postgres: 5432, mysql: 3306, pgbouncer: 6432 } as const;

// One of every four connections.
const MYSQL_PLACE = 2;

/** A fleet of ten or more has a PgBouncer. */
const POOLER_PLACE = 9;

const RUNS_A_DAY = 4;
const LEAST_RUNS = 28;
/** Minimum for a fleet that would have more than `MOST_RUNS`; but at least one a day. */
const FEWEST_RUNS = 4;
const MOST_RUNS = 100_000;

/** The number of runs of each connection in a fleet of this size. */
function runsEach({ connections, days }: SampleSize): number {
  const wanted = Math.max(LEAST_RUNS, days * RUNS_A_DAY);
  return Math.min(wanted, Math.max(FEWEST_RUNS, days, Math.floor(MOST_RUNS / Math.max(1, connections))));
}

/**
 * Plans the connections of a company, the same for the same seed and size: some are healthy, a few have most of the
 * tickets.
 */
export function planFleet(size: SampleSize, seed: number): SampleFleet {
  const seeds = Array.from({ length: size.connections }, (_, n) => Math.imul(seed + n + 1, 0x9e3779b1) >>> 0);
  const weights = seeds.map((own) => 0.1 + 3 * randomNumber(own ^ seed) ** 3);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let [weighed, given] = [0, 0];
  const connections = seeds.map((own, n): SampleConnection => {
    const system = SAMPLE_SYSTEMS[n % SAMPLE_SYSTEMS.length];
    const number = Math.floor(n / SAMPLE_SYSTEMS.length) + 1;
    weighed += weights[n] ?? 0;
    const tickets = Math.round((size.tickets * weighed) / whole) - given;
    given += tickets;
    return {
      ...describe(n, system, number),
      seed: own,
      tickets,
      hasOwnCheck: n === 0,
    };
  });
  return { connections, runs: runsEach(size), days: size.days };
}

/** What a connection is, by its place in the fleet. */
function describe(n: number, system: string | undefined, number: number) {
  if (n === POOLER_PLACE)
    return {
      name: `${system} pooler`,
      host: `${system}-pooler.db.example.com`,
      engine: 'pgbouncer' as const,
    };
  return {
    name: number === 1 ? `${system} primary` : `${system} replica ${number - 1}`,
    host: `${system}-${number}.db.example.com`,
    engine: n % 4 === MYSQL_PLACE ? ('mysql' as const) : ('postgres' as const),
  };
}

/**
 * The time of a connection's run, in microseconds since 1970. The n-th run of every connection comes before the (n +
 * 1)-th of any.
 */
export function runInstant({ seed }: SampleConnection, run: number, runs: number, history: History): number {
  const share = (run + 0.9 * randomNumber(seed) + 0.09 * randomNumber(seed + run + 1)) / runs;
  return history.start + Math.round(share * (history.end - history.start));
}

/** A run of a connection, with the tickets that it opened and resolved. */
export interface FleetRun {
  /** The connection's index in the fleet. */
  place: number;
  run: number;
  at: number;
  opened: readonly SampleTicket[];
  resolved: readonly SampleTicket[];
}

/** All runs of a fleet in order of time. It numbers the tickets in the order in which they open. */
export function* fleetRuns(fleet: SampleFleet, history: History): Generator<FleetRun> {
  const histories = fleet.connections.map((connection) => runsOf(connection, fleet));
  const places = fleet.connections.map((_, place) => place);
  const instants = new Float64Array(places.length);
  let number = 0;
  for (let run = 0; run < fleet.runs; run++) {
    fleet.connections.forEach((connection, place) => {
      instants[place] = runInstant(connection, run, fleet.runs, history);
    });
    places.sort((a, b) => (instants[a] ?? 0) - (instants[b] ?? 0));
    for (const place of places) {
      const { value } = histories[place]?.next() ?? {};
      if (!value) throw new Error('A connection has fewer runs than its fleet.');
      for (const ticket of value.opened) ticket.number = ++number;
      const { opened, resolved } = value;
      yield { place, run, at: instants[place] ?? 0, opened, resolved };
    }
  }
}
