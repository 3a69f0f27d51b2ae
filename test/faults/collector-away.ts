import { setTimeout as wait } from 'node:timers/promises';
import { temporaryFolder } from '../contract/running-service.ts';
import { enrol } from './collector-kill.ts';
import { type Extent, type Fault, Seen } from './fault.ts';
import { startProxy } from './proxy.ts';
import { onStage, type Stage } from './stage.ts';

const CONNECTIONS = 20;
const EVERY_S = 30;
/** Of the health checks of a connection, so many may be late before it is a gap. */
const GAP_S = 3 * EVERY_S;

/** An hour without the service, at intervals that are compressed by ten: 20 connections at 30 s instead of 5 minutes, for 6 minutes. */
export const collectorAway: Fault = {
  fault: 'the service is away under a collector with 20 connections, for twelve intervals',
  figure: 'no gap in the history of a connection, times within the outage, nothing judged or told of it',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const away = (extent === 'short' ? 4 : 12) * EVERY_S;
      const folder = temporaryFolder();
      let proxy = await startProxy(Number(new URL(stage.service.origin).port));
      try {
        const url = `http://127.0.0.1:${proxy.port}`;
        const start = await enrol(stage, folder.path, { url, count: CONNECTIONS, every: `${EVERY_S}s` });
        const collector = start();
        await wait(1_000 * (EVERY_S + 15));
        await proxy.close();
        const gone = Date.now() / 1_000;
        await wait(1_000 * away);
        proxy = await startProxy(Number(new URL(stage.service.origin).port), proxy.port);
        const back = Date.now() / 1_000;
        await collector.says(/health checks delivered that were measured before/);
        await wait(1_000 * (EVERY_S + 15));
        await collector.stop();
        const [longest = 0, fewest = 0] = await measureHistory(stage, gone, back);
        const late = await lateIn(stage, gone, back);
        return new Seen()
          .atMost(longest, GAP_S, 's between two health checks of a connection')
          .atLeast(fewest, Math.floor(away / EVERY_S) - 1, 'health checks of each in the outage')
          .none(late.entries, 'health checks of the outage judged')
          .none(late.events, 'events of the outage told');
      } finally {
        await proxy.close();
        folder.remove();
      }
    }),
};

/** The longest time between two health checks of a connection, and the fewest that one has within these times. */
async function measureHistory(stage: Stage, gone: number, back: number): Promise<number[]> {
  const rows = await stage.query<{ connection: number; at: number }>(
    `select connection_id::int as connection, extract(epoch from created_at)::float8 as at
       from health_check where account_id = $1 order by connection_id, created_at`,
    [stage.id],
  );
  const times = Map.groupBy(rows, ({ connection }) => connection);
  // The stage's own connection has no collector.
  const each = [...times.values()].map((of) => of.map(({ at }) => at)).filter((of) => of.length > 2);
  const gaps = each.map((of) => Math.max(...of.slice(1).map((at, n) => at - (of[n] ?? at))));
  const counts = each.map((of) => of.filter((at) => at > gone && at < back).length);
  return [Math.round(Math.max(...gaps)), each.length === CONNECTIONS ? Math.min(...counts) : 0];
}

/** What was logged and queued of this time. */
async function lateIn(
  stage: Stage,
  gone: number,
  back: number,
): Promise<{ entries: number; events: number }> {
  const [late] = await stage.query<{ entries: number; events: number }>(
    `select (select count(*)::int from activity
              where account_id = $1 and action_type = 'health_check_completed'
                and occurred_at between to_timestamp($2) + interval '5 s' and to_timestamp($3)) as entries,
            (select count(*)::int from event
              where account_id = $1 and occurred_at between to_timestamp($2) + interval '5 s' and to_timestamp($3)
                and kind not in ('collector.silent', 'collector.returned')) as events`,
    [stage.id, gone, back],
  );
  return late ?? { entries: 1, events: 1 };
}
