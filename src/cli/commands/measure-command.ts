import type { Command } from 'commander';
import type pg from 'pg';
import { csvCell } from '../../activity/csv-entry.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { nearestWord } from '../../platform/text/nearest-word.ts';
import { findSeries, metricsOf, type NamedSeries } from '../../runs/measures/find-series.ts';
import { type LatestMeasure, type LatestMeasures, listMeasures } from '../../runs/measures/list-measures.ts';
import { type History, readHistory } from '../../runs/measures/read-history.ts';
import { inTransaction } from '../../store/connect.ts';
import { type Read, within } from '../../store/read.ts';
import { idOf, oneOf, textOf, timeOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { jsonLine, printList } from '../print.ts';
import { UsageError } from '../usage-error.ts';

const DAY_MS = 86_400_000;
const FORMATS = ['table', 'ndjson', 'csv'] as const;
const NAMES = ['check_id', 'metric', 'database', 'object'] as const;
const VALUES = ['last', 'minimum', 'mean', 'maximum'] as const;

interface ShowOptions {
  connection: number;
  metric: string;
  database?: string;
  object?: string;
  from?: Date;
  to?: Date;
  format?: (typeof FORMATS)[number];
  json?: boolean;
}

/** A series with its history. */
type Shown = NamedSeries & History;

/** Runs `work` in one read transaction with the connection's account. */
export async function readConnectionData<T>(
  writer: pg.Pool,
  connectionId: number,
  work: (read: Read, accountId: number) => Promise<T>,
): Promise<T> {
  const accountId = await ownerOfConnection(writer, connectionId);
  return inTransaction(writer, (client) => work(within(client), accountId));
}

function printLatest(json: boolean | undefined, latest: LatestMeasures | null): void {
  if (json) {
    process.stdout.write(jsonLine(latest ?? { measured_at: null, dropped: 0, measures: [] }));
    return;
  }
  if (latest === null)
    throw new Error('Nothing has been measured yet: "check run --connection ID" does it now.');
  const { measured_at, dropped, measures } = latest;
  const more =
    dropped === 0 ? '' : ` ${dropped} more numbers are not kept, because a connection has at most 300.`;
  process.stdout.write(`Measured at ${measured_at}.${more}\n\n`);
  const rows = measures.map((measure) => ({ ...measure, full: fullText(measure) }));
  printList(false, rows, [
    'check_id',
    'metric',
    'database',
    'object',
    'value',
    'warning',
    'critical',
    'full',
  ]);
}

/** When the forecast says that the value reaches its limit: the day, and the interval. */
function fullText({ forecast }: LatestMeasure): string | null {
  if (!forecast?.full_at || !forecast.full_earliest) return null;
  const [day, earliest, latest] = [forecast.full_at, forecast.full_earliest, forecast.full_latest].map(
    (time) => (time === null ? 'never' : time.slice(0, 10)),
  );
  return `${day} (${earliest} to ${latest})`;
}

async function readShown(writer: pg.Pool, { connection, from, to, ...named }: ShowOptions): Promise<Shown[]> {
  return readConnectionData(writer, connection, async (read, accountId) => {
    const found = await findSeries(read, [accountId, connection], named);
    if (found.length === 0) throw await noSeries(read, accountId, { connection, ...named });
    const end = to ?? new Date();
    const range = { from: from ?? new Date(end.getTime() - DAY_MS), to: end };
    const series = found.map(({ series_id }) => series_id);
    const histories = await readHistory(read, accountId, connection, { series, ...range });
    return histories.flatMap((history) => {
      const known = found.find(({ series_id }) => series_id === history.series_id);
      if (!known) return [];
      const { slot: _slot, seen: _seen, ...names } = known;
      return [{ ...names, ...history }];
    });
  });
}

/** Says what to give instead of a metric, database or object that the connection does not have. */
async function noSeries(
  read: Read,
  accountId: number,
  { connection, metric }: Pick<ShowOptions, 'connection' | 'metric'>,
): Promise<Error> {
  const list = `"measures list --connection ${connection}" lists them`;
  const metrics = await metricsOf(read, accountId, connection);
  if (metrics.includes(metric)) {
    return new Error(`Connection ${connection} has no ${metric} of this database or object: ${list}.`);
  }
  const nearest = nearestWord(metric, metrics);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return new Error(`Connection ${connection} has no such metric: ${list}.${meant}`);
}

interface Point extends Pick<NamedSeries, (typeof NAMES)[number]> {
  at: string;
  last: number | null;
  minimum?: number | null;
  mean?: number | null;
  maximum?: number | null;
}

function* pointsOf({ check_id, metric, database, object, at, last, ...summaries }: Shown): Generator<Point> {
  const { minimum, mean, maximum } = summaries;
  for (const [n, seconds] of at.entries()) {
    yield {
      at: new Date(seconds * 1_000).toISOString(),
      check_id,
      metric,
      database,
      object,
      last: last[n] ?? null,
      ...(minimum &&
        mean &&
        maximum && { minimum: minimum[n] ?? null, mean: mean[n] ?? null, maximum: maximum[n] ?? null }),
    };
  }
}

function printShown(format: (typeof FORMATS)[number], shown: readonly Shown[]): void {
  const columns = ['at', ...NAMES, ...VALUES] as const;
  if (format === 'csv') process.stdout.write(`${columns.join(',')}\r\n`);
  for (const series of shown) {
    const points = [...pointsOf(series)];
    if (format === 'ndjson') process.stdout.write(points.map((point) => jsonLine(point)).join(''));
    else if (format === 'csv') {
      const line = (point: Point) => `${columns.map((name) => csvCell(point[name] ?? null)).join(',')}\r\n`;
      process.stdout.write(points.map(line).join(''));
    } else {
      const names = NAMES.map((name) => series[name]).filter(Boolean);
      process.stdout.write(`${names.join(' ')}, by ${series.resolution.replace('_', ' ')}\n`);
      printList(false, points, series.minimum ? ['at', ...VALUES] : ['at', 'last']);
      process.stdout.write('\n');
    }
  }
}

/** `measures list`, `measures show`. */
export function addMeasureCommands(program: Command, context: CommandContext): void {
  const group = program.command('measures').description('measured values and their history');

  addCommand(group, 'list', 'list the latest values of a connection, with thresholds and forecasts')
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .action(async ({ connection, json }: { connection: number; json?: boolean }) => {
      const latest = await context.withStore((writer) =>
        readConnectionData(writer, connection, (read, accountId) =>
          listMeasures(read, accountId, connection),
        ),
      );
      printLatest(json, latest);
    });

  addCommand(group, 'show', 'show the history of a metric, oldest first')
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .requiredOption('--metric <M>', 'the metric, such as connections_used_ratio', textOf('--metric'))
    .option('--database <D>', 'only of this database (default: all)')
    .option('--object <O>', 'only of this object, named as in "measures list" (default: all)')
    .option(
      '--from <T>',
      'from a date, a date-time, or a duration ago such as 7d (default: a day before --to)',
      timeOf('--from', 'start'),
    )
    .option('--to <T>', 'to a date, a date-time, or a duration ago (default: now)', timeOf('--to', 'end'))
    .option('--format <F>', `${FORMATS.join(', ')} (default: table)`, oneOf('--format', FORMATS))
    .addHelpText('after', NOTES)
    .action(async ({ format = 'table', json, ...options }: ShowOptions) => {
      if (options.from && options.to && options.from > options.to) {
        throw new UsageError('--from must not be later than --to.');
      }
      const shown = await context.withStore((writer) => readShown(writer, options));
      if (json) process.stdout.write(jsonLine(shown));
      else printShown(format, shown);
    });
}

const NOTES = `
The range decides how fine the values are: every run for up to 24 hours, five minutes for up
to 7 days, hours for up to 60 days, else days. A gap has no value.`;
