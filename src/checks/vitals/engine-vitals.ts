import type { Engine } from '../../vocabulary/engines.ts';
import { mysqlReadings } from './mysql-readings.ts';
import { mysqlVitals } from './mysql-vitals.ts';
import { pgbouncerReadings } from './pgbouncer-readings.ts';
import { pgbouncerVitals } from './pgbouncer-vitals.ts';
import { postgresReadings } from './postgres-readings.ts';
import { postgresVitals } from './postgres-vitals.ts';
import type { EngineVitals, VitalValue } from './vital.ts';

const mysql: EngineVitals = { vitals: mysqlVitals, readings: mysqlReadings };

/** The vitals of every engine. */
export const engineVitals: Readonly<Record<Engine, EngineVitals>> = {
  postgres: { vitals: postgresVitals, readings: postgresReadings },
  mysql,
  mariadb: mysql, // the server itself reports which of the two it is
  pgbouncer: { vitals: pgbouncerVitals, readings: pgbouncerReadings },
};

const titles = new Map(
  [...pgbouncerVitals, ...mysqlVitals, ...postgresVitals].map(({ metric, title }) => [metric, title]),
);

/** What a vital is called above a chart, such as `Transactions`; null if no engine has such a vital. */
export function vitalTitle(metric: string): string | null {
  return titles.get(metric) ?? null;
}

/** The values that are listed as vitals, in the list's order, and of each vital at most so many, the largest first. */
export function listedVitals({ vitals }: EngineVitals, values: readonly VitalValue[]): VitalValue[] {
  const found = Map.groupBy(values, ({ metric }) => metric);
  return vitals.flatMap(({ metric, most = 1 }) =>
    (found.get(metric) ?? []).toSorted((one, other) => other.value - one.value).slice(0, most),
  );
}
