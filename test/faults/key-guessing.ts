import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from './fault.ts';
import { ask, during, flood } from './flooded.ts';
import { FLEET, get, quantile } from './load.ts';
import { onStage, type Stage } from './stage.ts';

// PostgreSQL may report the statistics of an idle session this late, in milliseconds (PGSTAT_IDLE_INTERVAL).
const STATISTICS_MS = 11_000;

// The guesses use the process's remaining capacity. Other clients must get answers in half of the allowed two seconds.
const UNHURT_MS = 1_000;

/** Well-formed invalid keys, as fast as the service rejects them, while clients with keys continue. */
export const keyGuessing: Fault = {
  fault: 'key guessing',
  figure: '1,000,000: none opens a query of a tenant; other clients unhurt',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const count = extent === 'short' ? 50_000 : 1_000_000;
      const url = stage.service.origin + FLEET;
      await ask(url, stage.key, during(1));
      const calm = quantile(await ask(url, stage.key, during(4)), 0.99);
      const unread = await stood(stage);
      await get(`${stage.service.origin}/api/v1/team/members`, stage.key);
      await wait(STATISTICS_MS);
      const before = await stood(stage);
      const began = performance.now();
      const flooding = flood(stage.service, count, 16, 32);
      let going = true;
      const ended = flooding.then((statuses) => {
        going = false;
        return statuses;
      });
      const known = await ask(url, stage.key, () => going);
      const { 401: refused = 0, 429: limited = 0, ...others } = await ended;
      const seconds = (performance.now() - began) / 1_000;
      await wait(STATISTICS_MS);
      const after = await stood(stage);
      return new Seen()
        .atLeast(refused + limited, count, `in ${Math.round(seconds)} s guesses refused`)
        .none(Object.keys(others).length, 'other statuses')
        .none(after.entries - before.entries - known.length, 'entries of guesses in a log')
        .none(after.scans - before.scans, 'queries of a tenant')
        .holds('(a client’s one request was seen as such)', before.scans > unread.scans)
        .none(known.filter(Number.isNaN).length, `of ${known.length} good requests failed`)
        .atMost(quantile(known, 0.99), UNHURT_MS, `their p99 ${Math.round(calm)} ms →`, ' ms');
    }),
};

// The guesses request members, because nothing else reads that table; retention reads the tables of health checks.
async function stood(stage: Stage): Promise<{ entries: number; scans: number }> {
  const [row] = await stage.query<{ entries: number; scans: number }>(
    `select (select count(*) from activity where request_id is not null)::int as entries,
            (select sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0)) from pg_stat_user_tables
              where relname = 'member')::int as scans`,
  );
  return row ?? { entries: 0, scans: 0 };
}
