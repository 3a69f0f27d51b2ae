import type pg from 'pg';
import { latestOfAccount } from '../../runs/measures/latest-of-account.ts';
import { readAs } from '../../store/read.ts';
import { CONTENT_TYPE, type LatestValues, MOST_VALUES, writeMeasures } from './write-measures.ts';

/** The latest values of an account; scrapes at the same time share one read of the store. */
export function exportMeasures(reader: pg.Pool, accountId: number) {
  let underWay: Promise<LatestValues> | null = null;
  /** Throws if the store does not answer, or has no such account. */
  function latest(): Promise<LatestValues> {
    underWay ??= readLatest(reader, accountId).finally(() => {
      underWay = null;
    });
    return underWay;
  }
  return {
    contentType: CONTENT_TYPE,
    latest,
    /** {@link latest} as metrics of Prometheus. */
    scrape: async () => writeMeasures(await latest()),
  };
}

async function readLatest(reader: pg.Pool, accountId: number): Promise<LatestValues> {
  const { result } = await readAs(reader, accountId, (read) => latestOfAccount(read, accountId, MOST_VALUES));
  if (result === null) throw new Error(`There is no account ${accountId}.`);
  const { connections, values } = result;
  const fresh = connections.filter(({ is_stale }) => !is_stale);
  const leftOut = fresh.reduce((sum, { count }) => sum + count, 0) - values.length;
  return { connections, values, leftOut };
}
