import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type Logger, pino } from 'pino';
import { hasAccounts } from '../../cells/directory.ts';
import { type Cell, type CellPlace, openCells } from '../../cells/open-cells.ts';
import type { Config } from '../../config/config.ts';
import { version } from '../../config/package-root.ts';
import { secretKeys } from '../../config/secret-key.ts';
import { followDataFolder } from '../../connections/watch-own-store.ts';
import { openConsole } from '../../console/open-console.ts';
import { backupTimes } from '../../database/backup/last-backup.ts';
import { openPool, STORE_DEADLINE_MS, WORK_DEADLINE_MS } from '../../database/connect.ts';
import type { Say } from '../../database/embedded.ts';
import type { SecretKeys } from '../../database/encryption.ts';
import { errorFields } from '../../database/store-failure.ts';
import { storeIdentity } from '../../database/store-identity.ts';
import { storeSize } from '../../database/store-size.ts';
import { EscapedErrors } from '../../http/edge/escaped-errors.ts';
import { certificateOf, type Tls } from '../../http/edge/tls.ts';
import { FailedAuthentications } from '../../http/failed-authentications.ts';
import { countDueConnections } from '../../monitor/claim.ts';
import { checkNow } from '../../monitor/schedule.ts';
import { readFigures } from '../../notifications/dispatch/read-figures.ts';
import { startSender } from '../../notifications/sending/send-in-child.ts';
import { type ApiStores, startApiServer } from '../../server/api-server.ts';
import { type FirstStart, firstStart } from '../../server/first-start.ts';
import { consoleUrl, listen, passkeyOrigin, urlOf } from '../../server/listen.ts';
import { serveMetrics } from '../../server/metrics-listener.ts';
import { startupBanner } from '../../server/startup-banner.ts';
import { followTls, readTls } from '../../server/tls-files.ts';
import { openIdentityProvider } from '../../sign-in/identity-provider.ts';
import { askOnce } from '../../telemetry/ask-once.ts';
import { createMetrics } from '../../telemetry/metrics.ts';
import { notificationMetrics } from '../../telemetry/notification-metrics.ts';
import { startControlRounds } from '../cells/control-rounds.ts';
import { ServedCell } from '../cells/served-cell.ts';

/** The parts of the service to run. */
export interface ServeOptions {
  /** Whether to run health checks. */
  monitor: boolean;
  /** How many health checks run at a time. */
  concurrency: number;
}

// After a fatal error, an orderly shutdown may hang.
const LONGEST_END_MS = 30_000;

/** Runs the API and, by default, the monitor until SIGTERM or SIGINT. Then drains requests and returns. */
export async function serve(config: Config, options: ServeOptions): Promise<void> {
  const undo: (() => unknown)[] = [];
  let started = false;
  const log = pino({ level: config.logLevel, base: null }, pino.destination({ dest: 2, sync: false }));
  // Handled from the start and repeatedly, so that cleanup always completes: under npm, Ctrl-C sends the signal twice.
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  process.on('SIGTERM', stop).on('SIGINT', stop);
  const fail = () => {
    process.exitCode = 1;
    setTimeout(() => process.exit(), LONGEST_END_MS).unref();
    stop();
  };
  try {
    await start(config, log, options, undo, fail);
    started = true;
    await stopped;
  } finally {
    // Stops in reverse order of start: requests drain before the gate closes, and the store closes last.
    for (const end of undo.reverse()) await end();
    if (started) log.info('dbvitals has stopped');
  }
}

async function start(
  config: Config,
  log: Logger,
  options: ServeOptions,
  undo: (() => unknown)[],
  fail: () => void,
): Promise<void> {
  if (config.traces) {
    const { startTraces } = await import('../../telemetry/otel-sdk.ts');
    undo.push(startTraces(config.traces, log));
  }
  for (const sentence of config.misspelt) log.warn(sentence);
  const tls = config.tlsFiles && readTls(config.tlsFiles);
  const cells = await openCells(config, sayTo(log), 'make');
  undo.push(() => cells.close());
  const { control } = cells;
  await control.embedded?.claimForServing();
  const shown = process.stderr.isTTY; // a person reads the banner
  if (!shown)
    log.info({ version, node: process.versions.node, store: control.description }, 'dbvitals starts');
  const secret = secretKeys(config);

  const metrics = createMetrics();
  const notifications = notificationMetrics(metrics.registry);
  const escaped = new EscapedErrors(log, metrics.escaped);
  escaped.watch(fail);
  const controlWriter = openPool(control.address, 'writer', { max: 2, statementTimeout: WORK_DEADLINE_MS });
  undo.push(() => controlWriter.end());
  const [place, ...places] = cells.places;
  const serveCell = (of: CellPlace) => new ServedCell(cells, of, { control: controlWriter, secret, log });
  const served: [ServedCell, ...ServedCell[]] = [serveCell(place), ...places.map(serveCell)];
  undo.push(async () => void (await Promise.all(served.map((cell) => cell.close()))));
  await Promise.all(served.map((cell) => cell.open()));
  const { host, port, corsOrigins, trustProxy, basePath, publicUrl } = config;
  const { allowPrivateTargets, allowConsoleSockets, tokenCommands } = config;
  const storeId = await storeIdentity(control.address, control.embedded ? config.dataDir : null);
  const settings = { host, port, corsOrigins, trustProxy, basePath, publicUrl, storeId, tls };
  const singleSignOn = config.singleSignOn && openIdentityProvider(config.singleSignOn, basePath);
  const consoleStores = {
    control: control.address,
    cells: cells.hasDirectory
      ? served.map(({ place, address: { id, isOpen } }) => ({
          ...{ id, isOpen, address: cells.storeAddress(place) },
        }))
      : null,
  };
  const console = await openConsole(consoleStores, {
    log,
    secret,
    basePath,
    allowPrivateTargets,
    tokenCommands,
    allowConsoleSockets,
    allowPrivateDestinations: config.allowPrivateDestinations,
    hasMail: config.smtpUrl !== null,
    singleSignOn,
    publicUrl: config.publicUrl,
    passkeyOrigin: () => passkeyOrigin(config, api.port),
    measure: metrics.answeredConsole,
  });
  undo.push(() => console.close());
  const [firstCell, ...otherCells] = served;
  const stores: ApiStores = {
    cells: [firstCell.address, ...otherCells.map(({ address }) => address)],
    directory: cells.hasDirectory ? control.address : null,
  };
  const api = await startApiServer(stores, settings, {
    log,
    metrics,
    failures: new FailedAuthentications(),
    console: console.handle,
    escaped,
  });
  undo.push(() => api.close());
  if (config.tlsFiles && tls) {
    let served = tls;
    const renew = (fresh: Tls) => {
      served = fresh;
      api.renew(fresh);
    };
    const following = followTls(config.tlsFiles, tls, { log, renew });
    metrics.watchCertificate(() => certificateOf(served).validToDate);
    undo.push(() => following.stop());
  }
  undo.push(() => console.hangUp()); // else the shutdown would wait for its open streams
  if (config.metricsPort !== null) {
    const watched = served.map(({ place, address }) => {
      // A separate pool with a deadline: on a hanging connection, the next query would wait forever.
      const watching = openPool(cells.storeAddress(place), 'writer', {
        ...{ max: 1, statementTimeout: STORE_DEADLINE_MS },
      });
      undo.push(() => watching.end());
      const labels = cells.hasDirectory ? { cell: String(place.id) } : {};
      const ask = <T>(read: () => Promise<T>) => {
        const once = askOnce(read, STORE_DEADLINE_MS);
        return async () => (address.isOpen() ? once() : null);
      };
      const readStore = async () => ({
        sizeBytes: await storeSize(watching),
        ...(await countDueConnections(watching)),
        ...(await backupTimes(watching)),
      });
      return {
        store: { labels, ask: ask(readStore) },
        notifications: { labels, ask: ask(() => readFigures(watching)) },
      };
    });
    metrics.watchStores(watched.map(({ store }) => store));
    notifications.watchStores(watched.map((each) => each.notifications));
    const port = config.metricsPort;
    const server = await listen(
      () => serveMetrics(metrics.registry, config.metricsHost, port, api.notReady, escaped),
      port,
    );
    undo.push(() => server.close());
  }

  const first = firstCell.opened && (await setUp(firstCell.opened, controlWriter, { config, secret, log }));
  const { allowPrivateDestinations: allowPrivate, smtpUrl, mailFrom } = config;
  const sender = startSender({ allowPrivate, smtpUrl, mailFrom, log });
  undo.push(() => sender.stop());
  const parts = {
    ...{ config, metrics, notifications, sender },
    concurrency: options.monitor ? options.concurrency : null,
    consoleUrl: () => consoleUrl(config, api.port),
  };
  for (const cell of served) cell.startRounds(parts);
  const controlRounds = startControlRounds(cells, {
    ...{ log, measure: metrics.removed, failed: metrics.notRetained },
  });
  undo.push(() => controlRounds?.stop());
  undo.push(async () => void (await Promise.all(served.map((cell) => cell.stopRounds()))));
  undo.push(async () => {
    log.info({ drain_seconds: config.drainSeconds }, 'dbvitals stops: requests under way are answered first');
    api.leave();
    await wait(1_000 * config.drainSeconds);
  });
  const url = urlOf(config, api.port);
  const stood = served.map(({ opened }) => opened).filter((opened) => opened !== null);
  process.stdout.write(await startupBanner(stood, first, url, consoleUrl(config, api.port)));
  if (!shown) log.info({ url }, 'dbvitals is ready');
}

/** Prints the steps of the embedded PostgreSQL as text on a terminal, else logs them, so that every line is JSON. */
function sayTo(log: Logger): Say {
  return (step, level = 'info') =>
    process.stderr.isTTY ? process.stderr.write(`${step} …\n`) : log[level](step);
}

/** Sets up an empty first store, and follows the data folder of the embedded one. */
async function setUp(
  { cell: { store }, writer }: { cell: Cell; writer: pg.Pool },
  control: pg.Pool,
  { config, secret, log }: { config: Config; secret: SecretKeys; log: Logger },
): Promise<FirstStart | null> {
  const { allowPrivateTargets, tokenCommands } = config;
  const deps = { writer, secret, allowPrivateTargets, tokenCommands, log };
  // The first cell may be empty because its accounts live in others.
  if (config.cells && (await hasAccounts(control))) return null;
  const first = await firstStart(store, writer, secret, (connection) => checkNow(deps, connection));
  if (store.embedded && first === null) {
    // With another secret key nothing decrypts. Health checks report that, and the API keeps running.
    await followDataFolder(writer, secret, store.embedded.monitor).then(
      (changed) =>
        changed > 0 && log.info("the data folder was moved: the store's connection to itself was updated"),
      (error) =>
        log.warn(
          errorFields(error, log),
          "the store's connection to itself can't be updated to the data folder",
        ),
    );
  }
  return first;
}
