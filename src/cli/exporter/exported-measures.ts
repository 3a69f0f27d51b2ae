import type pg from 'pg';
import { readAs } from '../../database/read.ts';
import { type AccountMeasure, latestOfAccount } from '../../measures/latest-of-account.ts';

/** Prometheus keeps a series for each. */
const MOST_VALUES = 50_000;
const LONGEST_LABEL = 200;

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The latest values of an account as metrics of Prometheus; scrapes at the same time share one read of the store. */
export function exportMeasures(reader: pg.Pool, accountId: number) {
  let underWay: Promise<string> | null = null;
  return {
    contentType: CONTENT_TYPE,
    /** Throws if the store does not answer, or has no such account. */
    scrape(): Promise<string> {
      underWay ??= measuresText(reader, accountId).finally(() => {
        underWay = null;
      });
      return underWay;
    },
  };
}

async function measuresText(reader: pg.Pool, accountId: number): Promise<string> {
  const { result } = await readAs(reader, accountId, (read) => latestOfAccount(read, accountId, MOST_VALUES));
  if (result === null) throw new Error(`There is no account ${accountId}.`);
  const { connections, values } = result;
  const nameOf = new Map(connections.map(({ connection_id, name }) => [connection_id, name]));
  const fresh = connections.filter(({ is_stale }) => !is_stale);
  const leftOut = fresh.reduce((sum, { count }) => sum + count, 0) - values.length;
  const lines = [
    ...heading(
      'dbvitals_measure',
      'Latest value of a check or a vital (check_id is empty), in the base unit of its metric',
    ),
    ...values.map((value) => `dbvitals_measure${labels(measureLabels(value, nameOf))} ${value.value}`),
    ...heading('dbvitals_measured_timestamp_seconds', 'Time of the latest run that measured values'),
    ...connections.map(
      ({ connection_id, name, measured_at }) =>
        `dbvitals_measured_timestamp_seconds${labels({ connection_id, connection: name })} ${measured_at}`,
    ),
    ...heading(
      'dbvitals_measures_left_out',
      `Values that are not shown, because there are more than ${MOST_VALUES}`,
    ),
    `dbvitals_measures_left_out ${leftOut}`,
  ];
  return `${lines.join('\n')}\n`;
}

function heading(name: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`];
}

function measureLabels(
  { connection_id, series_id, check_id, metric, database, object }: AccountMeasure,
  nameOf: ReadonlyMap<number, string>,
) {
  // What is cut could be equal to another one; Prometheus refuses a scrape with two equal series.
  const cut = (text: string) =>
    text.length <= LONGEST_LABEL ? text : `${text.slice(0, LONGEST_LABEL).toWellFormed()}… #${series_id}`;
  const connection = nameOf.get(connection_id) ?? '';
  return { connection_id, connection, check_id, metric, database: cut(database), object: cut(object ?? '') };
}

function labels(named: Readonly<Record<string, string | number>>): string {
  return `{${Object.entries(named)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(',')}}`;
}

/** A label's value in the text format of Prometheus. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
