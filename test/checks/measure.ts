import type pg from 'pg';
import type { Check, Judgement, Thresholds } from '../../src/checks/check.ts';

/** Runs a check as the monitor does: READ ONLY, bounded, nothing but pg_catalog in its path. */
export async function measure(client: pg.Client, check: Check, thresholds?: Thresholds): Promise<Judgement> {
  const { rows: facts } = await client.query(
    `select current_setting('server_version_num')::int as version, current_database() as database`,
  );
  await client.query('begin transaction read only');
  try {
    await client.query(`set local statement_timeout = '5s'`);
    await client.query(`set local lock_timeout = '100ms'`);
    await client.query('set local search_path = pg_catalog');
    const { rows } = await client.query(check.sql(facts[0].version));
    return check.judge(rows, { ...facts[0], now: new Date(), ...(thresholds && { thresholds }) });
  } finally {
    await client.query('rollback');
  }
}
