import type pg from 'pg';
import { QueryReader } from '../../src/monitor/queries/query-reader.ts';

/** Reads what queries did as a run does, since the run that left this state. Throws if there is nothing to read. */
export async function readQueries(client: pg.Client, state: string | null = null) {
  const reader = new QueryReader('postgres', { state, usual: null, recent: null, texts: null });
  const read = async (statement: string) => (await client.query(statement)).rows;
  const found = await reader.facts({ tls: null, read, close: async () => {} }, 'shop');
  if (!reader.report) throw new Error(JSON.stringify(found));
  return { found, state: reader.report.state };
}
