import { type EndpointRequest, writtenEndpoint } from '../../../http/endpoint.ts';
import { wholeMeta } from '../../../http/paging.ts';
import { text as nameParameter, oneOf, requiredText } from '../../../http/query-parameters.ts';
import { rangeParameters, readRange } from '../../../http/range-parameters.ts';
import { invalidParameter } from '../../../platform/rejection.ts';
import { closedSet, count, timestamp } from '../../../platform/schema/fields.ts';
import { nullable } from '../../../platform/schema/nullable.ts';
import { Type } from '../../../platform/schema/schema.ts';
import { findSeries, type NamedSeries, type PlacedSeries } from '../../../runs/measures/find-series.ts';
import {
  type History,
  type Resolution,
  readHistory,
  resolutionOf,
} from '../../../runs/measures/read-history.ts';
import type { Read } from '../../../store/read.ts';
import { unitOf } from '../../../vocabulary/units.ts';
import { NO_CONNECTION, readOfConnection } from '../path-connection.ts';
import { text, writeList } from '../write-records.ts';
import { checkId, METRIC_FORM, metricName, place, unit, WRONG_METRIC } from './measure-fields.ts';

const DAY_MS = 86_400_000;
/** The most points of an answer, of all its series. */
const MOST_POINTS = 2_000;
/** The most series that are read for an answer. */
const MOST_SERIES = 50;

/** The steps, finest first, with their seconds: a run is at least a minute after the one before. */
const STEPS = [
  { step: 'run', resolution: 'run', seconds: 60 },
  { step: '5m', resolution: 'five_minutes', seconds: 300 },
  { step: '1h', resolution: 'hour', seconds: 3_600 },
  { step: '1d', resolution: 'day', seconds: 86_400 },
] as const satisfies readonly { step: string; resolution: Resolution; seconds: number }[];

type Step = (typeof STEPS)[number];

const value = (description: string) => nullable(Type.Number({ description }));

const Point = Type.Object(
  {
    at: timestamp('time of the run, or the beginning of the step'),
    value: value(
      'the value of the run or of the last run of five minutes, or the mean of the hour or day; null in a gap',
    ),
    min: value('least value of the step; null in a gap'),
    max: value('greatest value of the step; null in a gap'),
    check_id: checkId,
    ...place,
  },
  { title: 'MeasurePoint', description: 'a point of the history of a series' },
);

const HistoryMeta = Type.Object(
  {
    total: count('number of points'),
    page: Type.Integer({ minimum: 1, description: 'always 1: there is one page' }),
    per_page: Type.Integer({ minimum: 1, description: 'number of points, or 1' }),
    has_more: Type.Boolean({ description: 'always false' }),
    metric: metricName,
    unit,
    step: closedSet(
      STEPS.map(({ step }) => step),
      'the step of the points',
    ),
  },
  { title: 'HistoryMeta', description: 'what a history is of' },
);

const Parameters = Type.Object({
  metric: requiredText(
    'metric',
    'The metric, such as `cache_hit_ratio`, as in the measures of the connection. An unknown one returns an empty list.',
    WRONG_METRIC,
    METRIC_FORM,
  ),
  database: nameParameter(
    'database',
    'Restricts to one database.',
    'must be the name of a database.',
    { minLength: 1 },
    { minLength: 1 },
  ),
  object: nameParameter(
    'object',
    'Restricts to one object.',
    'must be the name of an object.',
    { minLength: 1 },
    { minLength: 1 },
  ),
  ...rangeParameters,
  step: oneOf(
    'step',
    `Distance of the points. Without it the finest one is chosen that gives at most ${MOST_POINTS} points. Runs are kept for a day, five minutes for 7 days, hours for 60 days, days for 13 months.`,
    STEPS.map(({ step }) => step),
  ),
});

/** The history of a metric of a connection. */
export const measureHistory = writtenEndpoint({
  path: '/health/connections/:id/measures/history',
  operationId: 'listMeasureHistory',
  summary: 'The history of a metric',
  description: `The points of each series of the metric, oldest first, at most ${MOST_POINTS} in all. By default the last 24 hours. In a gap nothing was measured: its \`value\` is null. A metric of many objects needs \`database\` or \`object\`.`,
  notFound: NO_CONNECTION,
  query: Parameters,
  response: Type.Object({ data: Type.Array(Point), meta: HistoryMeta }),
  reuse: 'tagged',
  async write(read, request) {
    const { accountId, id, query } = request;
    const { metric } = query;
    if (metric === undefined) throw invalidParameter('metric', `metric ${WRONG_METRIC}`);
    const range = historyRange(query);
    const { series, step, histories } = await readOfConnection(read, accountId, id, async (connectionId) => {
      const ids = [accountId, connectionId] as const;
      const series = await findSeries(read, ids, { metric, ...readNames(query) });
      if (series.length > MOST_SERIES) throw tooManySeries;
      return { series, ...(await readSteps(read, ids, { series, step: query.step, ...range })) };
    });
    const points = histories.flatMap((history) => writePoints(history, series));
    const meta = { ...wholeMeta(points.length), metric, unit: unitOf(metric), step: step.step };
    return { json: writeList(points, meta) };
  },
});

type Query = EndpointRequest<typeof Parameters>['query'];

const tooManySeries = invalidParameter(
  'object',
  `object or database is needed: more than ${MOST_SERIES} series have this metric, or more than ${MOST_POINTS} points.`,
);
const tooFine = invalidParameter(
  'step',
  `step gives more than ${MOST_POINTS} points: choose a longer step, a shorter range, or one database or object.`,
);

function historyRange(query: Query): { from: Date; to: Date } {
  const { since, before } = readRange(query);
  // The end of a range is an instant that is not in it.
  const to = before === null ? new Date() : new Date(Date.parse(before) - 1);
  return { from: since === null ? new Date(to.getTime() - DAY_MS) : new Date(since), to };
}

// Text in PostgreSQL can't contain NUL.
function readNames({ database, object }: Query): { database?: string; object?: string } {
  return {
    ...(database !== undefined && { database: database.replaceAll('\0', '\uFFFD') }),
    ...(object !== undefined && { object: object.replaceAll('\0', '\uFFFD') }),
  };
}

/** Reads the histories by the step that was chosen, or by the finest one that gives few enough points. */
async function readSteps(
  read: Read,
  [accountId, connectionId]: readonly [number, number],
  wanted: { series: readonly PlacedSeries[]; step: string | undefined; from: Date; to: Date },
): Promise<{ step: Step; histories: History[] }> {
  const { from, to } = wanted;
  const series = wanted.series.map(({ series_id }) => series_id);
  const count = (histories: readonly History[]) => histories.reduce((sum, { at }) => sum + at.length, 0);
  const chosen = STEPS.filter(({ step }) => step === wanted.step);
  for (const step of chosen.length > 0 ? chosen : stepsFor(series.length, from, to)) {
    const range = { series, from, to, resolution: step.resolution, places: wanted.series };
    const histories = await readHistory(read, accountId, connectionId, range);
    if (count(histories) <= MOST_POINTS) return { step, histories };
  }
  throw chosen.length > 0 ? tooFine : tooManySeries;
}

/** The steps that keep the whole range and may give few enough points; the last one always. */
function stepsFor(series: number, from: Date, to: Date): Step[] {
  const now = Date.now() / 1_000;
  const [first, last] = [from.getTime() / 1_000, Math.min(to.getTime() / 1_000, now)];
  const finest = resolutionOf(first, last, now);
  const kept = STEPS.slice(STEPS.findIndex(({ resolution }) => resolution === finest));
  return kept.filter(
    (step) => step === kept.at(-1) || (series * (last - first)) / step.seconds <= MOST_POINTS,
  );
}

/** The points of a series as JSON: thousands of objects would cost more than all else. */
function writePoints(
  { series_id, at, last, minimum, maximum, mean }: History,
  series: readonly NamedSeries[],
): string[] {
  const named = series.find((each) => each.series_id === series_id);
  const rest = `"check_id":${text(named?.check_id || null)},"database":${text(named?.database || null)},"object":${text(named?.object ?? null)}}`;
  const [values, least, greatest] = [mean ?? last, minimum ?? last, maximum ?? last];
  return at.map((seconds, n) => {
    const time = new Date(seconds * 1_000).toISOString();
    return `{"at":"${time}","value":${values[n] ?? null},"min":${least[n] ?? null},"max":${greatest[n] ?? null},${rest}`;
  });
}
