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
    queryFn: () => readLine(metric, range, id),
    staleTime: RENEWED_EVERY_MS,
    refetchInterval: RENEWED_EVERY_MS,
    gcTime: RENEWED_EVERY_MS,
  });
}

type Lines = (id: number) => FleetLine;

/** The connections whose lines are wanted, and the answers for each {@link MOST} of them. */
interface Batch {
  ids: number[];
  answers: Promise<Promise<Lines>[]>;
}

/** What is collected now, by vital sign and range. */
const batches = new Map<string, Batch>();

async function readLine(metric: string, range: FleetRange, id: number): Promise<FleetLine> {
  const key = `${metric} ${range}`;
  const batch = batches.get(key) ?? collect(key, metric, range);
  batches.set(key, batch);
  const place = batch.ids.push(id) - 1;
  const lines = await (await batch.answers)[Math.floor(place / MOST)];
  return lines?.(id) ?? { from: 0, to: 0, at: [], last: [] };
}

function collect(key: string, metric: string, range: FleetRange): Batch {
  const ids: number[] = [];
  const answers = new Promise((resolve) => setTimeout(resolve, COLLECT_MS)).then(() => {
    batches.delete(key);
    const firsts = ids.map((_, place) => place).filter((place) => place % MOST === 0);
    return firsts.map((first) => readLines(metric, range, ids.slice(first, first + MOST)));
  });
  return { ids, answers };
}

async function readLines(metric: string, range: FleetRange, ids: readonly number[]): Promise<Lines> {
  const answer = await get<FleetMeasures>('/fleet/measures', { metric, range, connections: ids.join(',') });
  const [from = 0, to = 0] = [answer.from, answer.to].map((at) => Date.parse(at) / 1_000);
  const found = new Map(answer.connections.map((line) => [line.connection_id, line]));
  return (id) => {
    const { at, last } = found.get(id) ?? { at: [], last: [] };
    return { from, to, at, last };
  };
}
