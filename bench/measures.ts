import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { readHistory } from '../src/runs/measures/read-history.ts';
import { rollUp } from '../src/runs/measures/roll-up.ts';
import { openPool } from '../src/store/connect.ts';
import { buffersOfReads } from '../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../test/support/store.ts';
import { fillMeasures, liveAnHour, type MeasuredFleet } from './fill-measures.ts';

// Measures what the history of measures costs: bytes per connection after 13 months, and buffers per reading:
// `npm run bench:measures`. ` -- --scale 0.01` is for testing the benchmark itself, ` -- --part bytes` and
// ` -- --part buffers` measure one of the two,
// ` -- --every 10` one interval. At full scale it takes about 3 GB in
// TMPDIR.

const { values } = parseArgs({
  options: { scale: { type: 'string', default: '1' }, part: { type: 'string' }, every: { type: 'string' } },
});
const scale = Number(values.scale);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LIMIT_MB: Readonly<Record<number, number>> = { 60: 3.5, 300: 16 };

/** Prints a figure and its limit. A figure above its limit fails the benchmark. */
function figure(what: string, value: number, unit: string, limit?: number): void {
  const over = limit !== undefined && value > limit;
  if (over) process.exitCode = 1;
  const beside = limit === undefined ? '' : ` (${over ? 'MISSED: ' : ''}at most ${limit})`;
  console.log(`  ${what}: ${Number(value.toFixed(2))} ${unit}${beside}`);
}

const TABLES = ['series', 'run', 'five_minutes', 'latest', 'hour', 'day', 'rolled', 'forecast'].map(
  (name) => `measure_${name}`,
);

/** MB of the tables, and of each, per connection. */
async function megabytes(store: TestStore, connections: number): Promise<Record<string, number>> {
  const { rows } = await store.writer.query<{ name: string; bytes: number }>(
    'select name, pg_total_relation_size(name::regclass) as bytes from unnest($1::text[]) name',
    [TABLES],
  );
  const each = rows.map(({ name, bytes }): [string, number] => [name, bytes / 1e6 / connections]);
  return { ...Object.fromEntries(each), all: each.reduce((sum, [, mb]) => sum + mb, 0) };
}

async function withStore(work: (store: TestStore) => Promise<void>): Promise<void> {
  const store = await startTestStore({ fsync: 'off', shared_buffers: '512MB', max_wal_size: '2GB' });
  try {
    await work(store);
  } finally {
    await store.stop();
  }
}

/**
 * Bytes of a connection: 13 months are written as rounds leave them, then one or two days are lived hour by hour, with the
 * product's own rounds. The tables are vacuumed every second hour, or every hour where
 * runs are replaced: autovacuum does so more often, by the settings in migration 0014.
 */
async function measureBytes(series: number, every: number, steady: number): Promise<void> {
  await withStore(async (store) => {
    const connections = Math.max(2, Math.round((scale * 1_200) / series));
    const now = new Date(Date.now() - (Date.now() % HOUR_MS));
    const end = new Date(now.getTime() - (every < 60 ? 1 : 2) * DAY_MS);
    const fleet: MeasuredFleet = { connections, series, every, steady, full: true, end };
    const accountId = await store.account();
    const ids = await fillMeasures(store.writer, accountId, fleet);
    const owner = openPool(store.address, 'owner', { max: 1 });
    await owner.query('vacuum analyze');
    const filled = await megabytes(store, connections);
    let [rolled, hours] = [0, 0];
    for (let hour = end; hour < now; hour = new Date(hour.getTime() + HOUR_MS)) {
      await liveAnHour(store.writer, accountId, ids, fleet, hour);
      const began = performance.now();
      for await (const _ of rollUp(store.writer, { now: new Date(hour.getTime() + HOUR_MS + 120_000) }))
        hours++;
      rolled += performance.now() - began;
      if (every < 60 || hour.getUTCHours() % 2 === 1)
        await owner.query('vacuum measure_run, measure_five_minutes, measure_hour, measure_day');
    }
    await owner.end();
    const { all = 0, ...lived } = await megabytes(store, connections);
    const shown = Object.entries(lived).map(([name, mb]) => `${name.slice(8)} ${mb.toFixed(2)}`);
    const limit = steady > 0 ? LIMIT_MB[series] : undefined;
    figure(`${series} series, every ${every} s, ${100 * steady} % of them steady`, all, 'MB', limit);
    console.log(
      `    ${shown.join(', ')}; as written ${filled['all']?.toFixed(2)}; ${(rolled / hours).toFixed(0)} ms for an hour of a connection`,
    );
  });
}

const READINGS = [
  { name: '24 hours', days: 1, limit: 350 },
  { name: '7 days', days: 7, limit: undefined },
  { name: '30 days', days: 30, limit: 60 },
  { name: '13 months', days: 396, limit: 20 },
];

/** Buffers of a reading in a store of 200 connections with 13 months and 9,800 with 24 hours. */
async function measureBuffers(): Promise<void> {
  await withStore(async (store) => {
    const [few, many] = [Math.ceil(200 * scale), Math.ceil(9_800 * scale)];
    console.log(`${few} connections with 13 months, ${many} with 24 hours, every 300 s, 60 series`);
    const end = new Date(Date.now() - (Date.now() % HOUR_MS));
    const fleet = { series: 60, every: 300, steady: 0.4, end };
    const accountId = await store.account();
    const ids = await fillMeasures(store.writer, accountId, { ...fleet, connections: few, full: true });
    for (let rest = many; rest > 0; rest -= 1_000) {
      const connections = Math.min(rest, 1_000);
      await fillMeasures(store.writer, await store.account(), { ...fleet, connections, full: false });
    }
    await liveAnHour(store.writer, accountId, ids, { ...fleet, connections: few, full: true }, end);
    const owner = openPool(store.address, 'owner', { max: 1 });
    await owner.query('vacuum analyze');
    await owner.end();
    const connection = ids[few >> 1] ?? 0;
    for (const { name, days, limit } of READINGS) {
      const range = { series: [31], from: new Date(Date.now() - days * DAY_MS), to: new Date() };
      let points = 0;
      const buffers = await buffersOfReads(store, accountId, async (read) => {
        points = (await readHistory(read, accountId, connection, range))[0]?.at.length ?? 0;
      });
      figure(`a series over ${name} (${points} points)`, buffers, 'buffers', limit);
    }
  });
}

console.log(`${cpus().length} cores (${cpus()[0]?.model}), Node ${process.version}`);
if (values.part !== 'buffers') {
  console.log('Bytes per connection after 13 months');
  const intervals = values.every ? [Number(values.every)] : [10, 60, 300];
  for (const every of intervals) await measureBytes(60, every, 0.4);
  for (const every of intervals) await measureBytes(300, every, 0.4);
  await measureBytes(60, 300, 0);
}
if (values.part !== 'bytes') await measureBuffers();
