import type pg from 'pg';
import { type Key, runOnce } from '../../src/monitor/run-fixture.ts';
import { rollUp } from '../../src/runs/measures/roll-up.ts';
import { storeForecasts } from '../../src/runs/measures/store-forecasts.ts';
import { PASSWORD, PostgresServer } from '../checks/postgres-server.ts';
import { startTestStore, type TestStore } from '../support/store.ts';

/** Hours between two runs, and days of them. */
const EVERY_HOURS = 3;
const DAYS = 5;
/** Values of the sequence, and how many orders use up in a run. */
const INVOICE_NUMBERS = 100_000;
const INVOICES_A_RUN = 750;

/** A store, and a database that it has monitored for five days until now. */
export interface DaysOfShop {
  store: TestStore;
  server: PostgresServer;
  connection: Key;
  /** The environment of a service on the store. */
  environment: { DATABASE_URL: string; DBVITALS_SECRET_KEY: string };
  stop(): Promise<void>;
}

/**
 * Runs the monitor on a real database under load, forty times. After each run everything in the store moves three hours
 * into the past, so that five days pass in a minute. Twelve hours before the end an operator raises work_mem and drops an
 * index; then a table bloats. A sequence is used up all the time.
 */
export async function liveThroughDays(): Promise<DaysOfShop> {
  const [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  const stop = async () => {
    await Promise.all([store.stop(), server.stop()]);
  };
  try {
    await server.run('create table orders (id integer primary key, customer integer, note text)');
    await server.run(`insert into orders select n, n % 100, 'new' from generate_series(1, 30000) n`);
    await server.run('create index orders_customer on orders (customer)');
    await server.run(`create sequence invoice_number maxvalue ${INVOICE_NUMBERS} start 60000`);
    const { host, port, database } = server;
    const given = { name: 'shop primary', host, port, database, username: 'watcher' };
    const connection = await store.watched(given, PASSWORD);
    // The server's statistics are younger than the days: it would always be given autovacuum's time.
    await store.set(connection, { thresholds: { PG_DEAD_TUPLES: { naps: 0 } } }, { password: PASSWORD });
    const owner = await store.superuser('store');
    await owner.query(
      `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, $3, now() + $3::interval)`,
      [connection.accountId, connection.connectionId, `${EVERY_HOURS} h`],
    );
    const application = await server.open('postgres');
    const runs = (DAYS * 24) / EVERY_HOURS;
    for (let run = 1; run <= runs; run++) {
      await work(application, run * EVERY_HOURS);
      const hoursLeft = (runs - run) * EVERY_HOURS;
      if (hoursLeft === 12) {
        await server.run(`alter system set work_mem = '64MB'`);
        await server.run('select pg_reload_conf()');
        await server.run('drop index orders_customer');
      }
      if (hoursLeft === 3) await server.run(`update orders set note = 'paid'`);
      await runOnce(store, connection);
      if (hoursLeft > 0) await passHours(owner, connection);
    }
    await application.end();
    for await (const _ of rollUp(store.writer, { rolled: storeForecasts }));
    const [{ host: folder, user, password, database: name } = {}] = store.address;
    const DATABASE_URL = `postgres://${user}:${password}@${encodeURIComponent(folder ?? '')}/${name}`;
    const [secret] = store.deps.secret;
    const environment = { DATABASE_URL, DBVITALS_SECRET_KEY: secret?.toString('hex') ?? '' };
    return { store, server, connection, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What the application does until the next run: most of it by day. */
async function work(application: pg.Client, hour: number): Promise<void> {
  const transactions = 120 + Math.round(100 * Math.sin((hour / 24) * 2 * Math.PI));
  for (let each = 0; each < transactions; each++) {
    await application.query('update orders set customer = customer where id = $1', [each + 1]);
  }
  await application.query('select count(nextval($1)) from generate_series(1, $2)', [
    'invoice_number',
    INVOICES_A_RUN,
  ]);
  await application.query('select pg_stat_force_next_flush()');
}

const TIMES: readonly [table: string, ...columns: string[]][] = [
  ['measure_series', 'last_seen_at'],
  ['measure_run', 'measured_at'],
  ['measure_latest', 'measured_at'],
  ['measure_rolled', 'hours_to'],
  ['counter_sample', 'taken_at'],
  ['connection', 'created_at'],
  ['connection_change', 'at'],
  ['fact_snapshot', 'read_at'],
  ['health_check', 'created_at'],
  ['ticket', 'first_seen_at', 'last_seen_at'],
];

/** Moves all that the store knows of the connection into the past. */
async function passHours(owner: pg.Client, { accountId, connectionId }: Key): Promise<void> {
  for (const [table, ...columns] of TIMES) {
    const moved = columns.map((column) => `${column} = ${column} - interval '${EVERY_HOURS} h'`).join(', ');
    const text = `update ${table} set ${moved} where account_id = $1 and connection_id = $2`;
    await owner.query(text, [accountId, connectionId]);
  }
  await owner.query('update measure_rolled set days_to = hours_to::date');
}
