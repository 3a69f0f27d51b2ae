import type { Engine } from '../../vocabulary/engines.ts';

/** Prometheus keeps a series for each. */
export const MOST_VALUES = 50_000;

const LONGEST_LABEL = 200;

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A connection with values. */
export interface WrittenConnection {
  connection_id: number;
  name: string;
  engine: Engine;
  /** Unix time of its latest run with values, in seconds. */
  measured_at: number;
}

/** A latest value of a connection. */
export interface WrittenMeasure {
  connection_id: number;
  series_id: number;
  /** Empty for a vital. */
  check_id: string;
  metric: string;
  /** Empty for the whole server. */
  database: string;
  /** Null for the whole server or database. */
  object: string | null;
  value: number;
}

/** The latest values of connections that are not too old. */
export interface LatestValues {
  /** Also those whose values are too old. */
  readonly connections: readonly WrittenConnection[];
  readonly values: readonly WrittenMeasure[];
  /** How many values are not shown. */
  readonly leftOut: number;
}

/** The latest values as metrics of Prometheus. */
export function writeMeasures({ connections, values, leftOut }: LatestValues): string {
  const names = new Map(connections.map(({ connection_id, name }) => [connection_id, name]));
  const lines = [
    ...heading(
      'dbvitals_measure',
      'Latest value of a check or a vital (check_id is empty), in the base unit of its metric',
    ),
    ...values.map((value) => `dbvitals_measure${labels(measureLabels(value, names))} ${value.value}`),
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
  { connection_id, series_id, check_id, metric, database, object }: WrittenMeasure,
  names: ReadonlyMap<number, string>,
) {
  // What is cut could be equal to another one; Prometheus refuses a scrape with two equal series.
  const cut = (text: string) =>
    text.length <= LONGEST_LABEL ? text : `${text.slice(0, LONGEST_LABEL).toWellFormed()}… #${series_id}`;
  const connection = names.get(connection_id) ?? '';
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
