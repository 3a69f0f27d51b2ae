import type { AddressInfo } from 'node:net';
import { styleText } from 'node:util';
import type pg from 'pg';
import { pino } from 'pino';
import { createApp } from './app.ts';
import { fleetStatus } from './checks/score.ts';
import { type Config, secretKey } from './config.ts';
import { openPool, STORE_DEADLINE_MS } from './database/connect.ts';
import { type OpenStore, openStore } from './database/open.ts';
import { type FirstStart, firstStart } from './first-start.ts';
import { Gate } from './gate/admit.ts';
import { createMetrics, serveMetrics } from './metrics.ts';
import { countDueConnections } from './monitor/claim.ts';
import { checkNow, startMonitor } from './monitor/schedule.ts';

/** Whether health checks are run, and how many at a time. */
interface ServeOptions {
  monitor: boolean;
  concurrency: number;
}

/** Runs the API, and the monitor unless told not to, until SIGTERM or SIGINT; then drains and returns. */
export async function serve(config: Config, options: ServeOptions): Promise<void> {
  const undo: (() => unknown)[] = [];
  // Heard from the first moment, and however often: Ctrl-C under npm comes twice, and nothing may be left behind.
  const stop = new Promise<void>((resolve) => {
    process.on('SIGTERM', resolve).on('SIGINT', resolve);
  });
  try {
    await start(config, options, undo);
    await stop;
  } finally {
    // The last thing begun ends first: requests drain before the gate goes, the store is left last.
    for (const end of undo.reverse()) await end();
  }
}

async function start(config: Config, options: ServeOptions, undo: (() => unknown)[]): Promise<void> {
  const log = pino({ level: config.logLevel, base: null }, pino.destination({ dest: 2, sync: false }));
  const store = await openStore(config, (step) => process.stderr.write(`${step} …\n`));
  undo.push(() => store.close());
  await store.embedded?.claimForServing();
  const secret = secretKey(config);

  const metrics = createMetrics();
  const writer = openPool(store.address, 'writer', { max: 6 });
  // The API's own: a store that hangs costs a request two seconds, and no connection.
  const keys = openPool(store.address, 'writer', { max: 2, statementTimeout: STORE_DEADLINE_MS });
  const reader = openPool(store.address, 'reader', {
    max: 4,
    pipeline: true,
    statementTimeout: STORE_DEADLINE_MS,
  });
  const gate = new Gate(store.address, metrics.batch);
  undo.push(() => Promise.all([writer.end(), keys.end(), reader.end(), gate.close()]));

  const { corsOrigins, trustProxy, allowPrivateTargets } = config;
  const app = createApp({ log, gate, keys, reader, corsOrigins, trustProxy, measure: metrics.answered });
  await listen(() => app.listen({ host: config.host, port: config.port }), config.port);
  undo.push(() => app.close());
  if (config.metricsPort !== null) {
    const port = config.metricsPort;
    const isReady = () =>
      writer.query('select 1').then(
        () => true,
        () => false,
      );
    const server = await listen(() => serveMetrics(metrics.registry, config.host, port, isReady), port);
    undo.push(() => server.close());
  }

  const deps = { writer, secret, allowPrivateTargets, log };
  const first = await firstStart(store, writer, secret, (connection) => checkNow(deps, connection));
  if (options.monitor) {
    const monitor = startMonitor({ ...deps, concurrency: options.concurrency, measure: metrics.checked });
    metrics.watch(monitor.running, () => countDueConnections(writer));
    undo.push(() => monitor.stop());
  }
  const { port } = app.server.address() as AddressInfo;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  process.stdout.write(await greeting(writer, store, first, `http://${host}:${port}`));
}

async function listen<T>(open: () => Promise<T>, port: number): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} is taken by another program: choose another one with --port or PORT.`);
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error('HOST is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all of them.');
    }
    if (code === 'EACCES') throw new Error(`Port ${port} needs privileges: choose one from 1024 on.`);
    throw error;
  }
}

const countThings = `
  select (select count(*) from account) as accounts,
         (select count(*) from connection where removed_at is null) as connections,
         (select min(account_id) from account) as account_id`;

const firstThings = `
  select a.account_id, a.name, a.plan, c.connection_id, c.name as connection_name, h.score
    from account a
    left join connection c on c.account_id = a.account_id and c.removed_at is null
    left join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   order by a.account_id, c.connection_id
   limit 1`;

/** What `serve` prints when it is ready. */
async function greeting(
  writer: pg.Pool,
  store: OpenStore,
  first: FirstStart | null,
  url: string,
): Promise<string> {
  const bold = (text: string) => styleText('bold', text, { stream: process.stdout });
  const { rows: counts } = await writer.query(countThings);
  const { rows: things } = await writer.query(firstThings);
  const { accounts, connections } = counts[0];
  const { account_id, name, plan, connection_id, connection_name, score } = things[0];
  const own = store.embedded ? ' (set DATABASE_URL for your own)' : '';
  const lines = [
    `  store        ${store.description}${own}`,
    accounts === 1 ? `  account      ${account_id} ${name} (${plan})` : `  accounts     ${accounts}`,
    accounts === 1 && connections === 1
      ? `  connection   ${connection_id} ${connection_name}: ${score === null ? 'never run' : `score ${score}, ${fleetStatus(score)}`}`
      : `  connections  ${connections}`,
    first
      ? `  API key      ${bold(first.key)} (shown once)`
      : `  API key      was shown at the first start; another: npm run -s dbvitals -- key create --account ${account_id} --name NAME`,
  ];
  const key = first?.key ?? '<API_KEY>';
  return `dbvitals is ready on ${bold(url)}\n${lines.join('\n')}\n\n  curl -H "Authorization: Bearer ${key}" ${url}/api/v1/health/fleet\n`;
}
