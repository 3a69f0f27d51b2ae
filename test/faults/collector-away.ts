import { join } from 'node:path';
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

/** What is taken away from the collector for a while. */
interface Outage {
  /** The address by which the collector knows the service. */
  url: string;
  begin(): Promise<void>;
  end(): Promise<void>;
  close(): Promise<void>;
}

const FIGURE =
  'no gap in the history and the measures of a connection, times within the outage, nothing judged or told of it';

/** An hour without the service, at intervals that are compressed by ten: 20 connections at 30 s instead of 5 minutes, for 6 minutes. */
export const collectorAway: Fault = {
  fault: 'the service is away under a collector with 20 connections, for twelve intervals',
  figure: FIGURE,
  provoke: (extent: Extent) => onStage((stage) => endure(stage, extent, takeService)),
};

/** The same with a service that runs on, and loses every packet to its store. */
export const collectorStoreAway: Fault = {
  fault: 'the store of the service is away under a collector with 20 connections, for twelve intervals',
  figure: FIGURE,
  provoke: (extent: Extent) => onStage((stage) => endure(stage, extent, takeStore)),
};

async function takeService(stage: Stage): Promise<Outage> {
  const port = Number(new URL(stage.service.origin).port);
  let proxy = await startProxy(port);
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    begin: () => proxy.close(),
    async end() {
      proxy = await startProxy(port, proxy.port);
    },
    close: () => proxy.close(),
  };
}

async function takeStore(stage: Stage): Promise<Outage> {
  const proxy = await startProxy(join(stage.storeFolder, '.s.PGSQL.5432'));
  const { origin } = await stage.instance({ DATABASE_URL: stage.storeUrl('127.0.0.1', proxy.port) });
  return {
    url: origin,
    begin: async () => proxy.swallow(),
    end: async () => proxy.heal(),
    async close() {
      proxy.heal();
      await proxy.close();
    },
  };
}

async function endure(stage: Stage, extent: Extent, take: (stage: Stage) => Promise<Outage>): Promise<Seen> {
  const away = (extent === 'short' ? 4 : 12) * EVERY_S;
  const folder = temporaryFolder();
  const outage = await take(stage);
  try {
    const { url } = outage;
    const start = await enrol(stage, folder.path, { url, count: CONNECTIONS, every: `${EVERY_S}s` });
    const collector = start();
    await wait(1_000 * (EVERY_S + 15));
    await outage.begin();
    const gone = Date.now() / 1_000;
    await wait(1_000 * away);
    await outage.end();
    const back = Date.now() / 1_000;
    await collector.says(/health checks delivered that were measured before/);
    await wait(1_000 * (EVERY_S + 15));
    await collector.stop();
    const history = await readTimes(stage, 'health_check', 'created_at');
    const measures = await readTimes(stage, 'measure_run', 'measured_at');
    const counts = history.map((of) => of.filter((at) => at > gone && at < back).length);
    const late = await lateIn(stage, gone, back);
    return new Seen()
      .atLeast(history.length, CONNECTIONS, 'connections with a history')
      .atLeast(measures.length, CONNECTIONS, 'connections with measures')
      .atMost(longestGap(history), GAP_S, 's between two health checks of a connection')
      .atMost(longestGap(measures), GAP_S + 60, 's between two of its measures, of which a minute keeps one')
      .atLeast(Math.min(...counts), Math.floor(away / EVERY_S) - 1, 'health checks of each in the outage')
      .none(late.entries, 'health checks of the outage judged')
      .none(late.events, 'events of the outage told');
  } finally {
    await outage.close();
    folder.remove();
  }
}

/** The times at which a table has each connection of the collector. The stage's own connection has no more than two. */
async function readTimes(stage: Stage, table: string, column: string): Promise<number[][]> {
  const rows = await stage.query<{ connection: number; at: number }>(
    `select connection_id::int as connection, extract(epoch from ${column})::float8 as at
       from ${table} where account_id = $1 order by connection_id, ${column}`,
    [stage.id],
  );
  const times = Map.groupBy(rows, ({ connection }) => connection);
  return [...times.values()].map((of) => of.map(({ at }) => at)).filter((of) => of.length > 2);
}

/** In seconds. */
function longestGap(times: readonly number[][]): number {
  const gaps = times.flatMap((of) => of.slice(1).map((at, n) => at - (of[n] ?? at)));
  return Math.round(Math.max(...gaps));
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
