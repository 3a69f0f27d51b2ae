import { queryOptions } from '@tanstack/react-query';
import type { FleetMeasures, FleetMetrics } from '../../../../src/console-api/measures/measure-schemas.ts';
import type { FleetRange } from '../../../../src/vocabulary/fleet-ranges.ts';
import { get, read } from '../../api.ts';

/** The history of a vital sign on one connection, with the ends of its range. */
interface FleetLine {
  from: number;
  to: number;
  at: readonly number[];
  last: readonly (number | null)[];
}

/** What the route takes in one request. */
const MOST = 100;
/** Rows that come into view within this time share a request. */
const COLLECT_MS = 50;
const RENEWED_EVERY_MS = 60_000;

/** The vital signs that connections can be compared by. They change with the version of the service only. */
export const metricsQuery = queryOptions({
  ...read<FleetMetrics>('/fleet/metrics'),
  queryKey: ['fleet-metrics'],
  staleTime: Number.POSITIVE_INFINITY,
});

/** The line of one connection. */
export function lineQuery(metric: string, range: FleetRange, id: number) {
  return queryOptions({
    queryKey: ['fleet-line', metric, range, id],
    queryFn: () => batchOf(metric, range).lineOf(id),
    staleTime: RENEWED_EVERY_MS,
    refetchInterval: RENEWED_EVERY_MS,
    gcTime: RENEWED_EVERY_MS,
  });
}

const batches = new Map<string, Batch>();

function batchOf(metric: string, range: FleetRange): Batch {
  const key = `${metric} ${range}`;
  const batch = batches.get(key) ?? new Batch(metric, range);
  batches.set(key, batch);
  return batch;
}

/** Collects the connections whose lines are wanted, and reads them together. */
class Batch {
  readonly #metric: string;
  readonly #range: FleetRange;
  #waiting: { id: number; settle: (line: Promise<FleetLine>) => void }[] = [];

  constructor(metric: string, range: FleetRange) {
    this.#metric = metric;
    this.#range = range;
  }

  lineOf(id: number): Promise<FleetLine> {
    if (this.#waiting.length === 0) setTimeout(() => this.#read(), COLLECT_MS);
    return new Promise((resolve) => {
      this.#waiting.push({ id, settle: resolve });
    });
  }

  #read(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let first = 0; first < waiting.length; first += MOST) {
      const part = waiting.slice(first, first + MOST);
      const lines = readLines(
        this.#metric,
        this.#range,
        part.map(({ id }) => id),
      );
      for (const { id, settle } of part) settle(lines.then((found) => found.lineOf(id)));
    }
  }
}

async function readLines(metric: string, range: FleetRange, ids: readonly number[]) {
  const answer = await get<FleetMeasures>('/fleet/measures', { metric, range, connections: ids.join(',') });
  const [from, to] = [answer.from, answer.to].map((at) => Date.parse(at) / 1_000) as [number, number];
  const found = new Map(answer.connections.map((line) => [line.connection_id, line]));
  return {
    lineOf: (id: number): FleetLine => {
      const { at, last } = found.get(id) ?? { at: [], last: [] };
      return { from, to, at, last };
    },
  };
}
