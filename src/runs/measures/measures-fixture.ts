import type { TestStore } from '../../../test/support/store.ts';
import type { SeriesValue } from '../../checks/measure.ts';
import { type MeasuredConnection, prepareMeasures, toReal } from './store-measures.ts';

/** A value of a check about the server, with other fields where given. */
export const measure = (metric: string, value: number, given: Partial<SeriesValue> = {}): SeriesValue => ({
  checkId: 'PG_TEST',
  metric,
  database: '',
  object: null,
  value,
  operator: '>=',
  warning: 1,
  critical: 2,
  ...given,
});

export async function newConnection(store: TestStore): Promise<MeasuredConnection> {
  const accountId = await store.account();
  return { accountId, connectionId: await store.connection(accountId) };
}

/** Writes runs of a connection directly, and begins its rolling up at the first of them. Series get the slots 1, 2, 3 … */
export async function writeRuns(
  { writer }: TestStore,
  key: MeasuredConnection,
  runs: readonly { at: Date; values: readonly (number | null)[] }[],
): Promise<void> {
  const series = Math.max(...runs.map(({ values }) => values.length));
  const names = Array.from({ length: series }, (_, n) => measure(`m${n + 1}`, 1));
  await prepareMeasures(writer, key, names);
  const ids = [key.accountId, key.connectionId];
  const rows = runs.map(({ at, values }) => ({ at, values: values.map((v) => v !== null && toReal(v)) }));
  await writer.query(
    `insert into measure_run (account_id, connection_id, measured_at, values)
     select $1, $2, at, array(select nullif(v, 'false')::real from jsonb_array_elements_text(values) with ordinality x (v, n) order by n)
       from jsonb_to_recordset($3) as r (at timestamptz, values jsonb)`,
    [...ids, JSON.stringify(rows)],
  );
  await writer.query(
    `update measure_rolled set (hours_to, days_to) = (select date_trunc('hour', min(measured_at)), min(measured_at)::date
                                                        from measure_run where account_id = $1 and connection_id = $2)
      where account_id = $1 and connection_id = $2`,
    ids,
  );
}
