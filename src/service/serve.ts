import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type Logger, pino } from 'pino';
import { openIdentityProvider } from '../accounts/sign-in/identity-provider.ts';
import { type ApiServer, type ApiStores, startApiServer } from '../api/api-server.ts';
import { isCollector, isConsole } from '../api/console-handler.ts';
import { RequestLog } from '../api/request/request-log.ts';
import { CollectorApi } from '../collector-api/collector-api.ts';
import { buildVersion } from '../config/build-version.ts';
import { readCellsFile } from '../config/cells-file.ts';
import type { Config } from '../config/config.ts';
import { rereadSecretKeys, secretKeys } from '../config/secret-key.ts';
import { consoleUrl, passkeyOrigin, urlOf } from '../config/service-url.ts';
import { followDataFolder } from '../connections/watch-own-store.ts';
import { openConsole } from '../console-api/open-console.ts';
import { EscapedErrors } from '../http/edge/escaped-errors.ts';
import { listen, METRICS, requireFreePort } from '../http/edge/listen.ts';
import { FailedAuthentications } from '../http/failed-authentications.ts';
import { checkNow } from '../monitor/schedule.ts';
import { startSender } from '../notifications/sending/send-in-child.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { certificateOf, type Tls } from '../platform/network/tls.ts';
import { createMetrics, type Metrics } from '../platform/telemetry/metrics.ts';
import { notificationMetrics } from '../platform/telemetry/notification-metrics.ts';
import { retentionMetrics } from '../platform/telemetry/retention-metrics.ts';
import { openPool, WORK_DEADLINE_MS } from '../store/connect.ts';
import { cellLabels } from '../store/directory/cell-places.ts';
import { hasAccounts } from '../store/directory/directory.ts';
import { type Cell, openCells } from '../store/directory/open-cells.ts';
import { isEmbeddedRunning, type Say } from '../store/embedded.ts';
import { errorFields } from '../store/store-failure.ts';
import { storeIdentity } from '../store/store-identity.ts';
import { writerOfAccount } from './collectors/writer-of-account.ts';
import { startControlRounds } from './control-rounds.ts';
import { type FirstStart, firstStart } from './first-start.ts';
import { serveMetrics } from './metrics-listener.ts';
import { reloadOnHangup } from './reload-on-hangup.ts';
import { reloadSecretKeys } from './reload-secret-keys.ts';
import { ServedCells } from './served-cells.ts';
import { recordServiceAddress } from './service-address.ts';
import { startupBanner } from './startup-banner.ts';
import { stepLine } from './step-line.ts';
import { followTls, invalidNow, readTls } from './tls-files.ts';
import { CONTROL_LABELS, watchCells } from './watched-cells.ts';

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
    const { startTraces } = await import('../platform/telemetry/otel-sdk.ts');
    undo.push(startTraces(config.traces, buildVersion(), log));
  }
  for (const sentence of config.misspelt) log.warn(sentence);
  const tls = config.tlsFiles && readTls(config.tlsFiles);
  const invalid = tls && invalidNow(tls);
  if (invalid !== null) log.error(invalid);
  // If the embedded store runs, another service may use it: that is told before its ports are in the way.
  if (config.databaseUrl !== null || config.cells !== null || !isEmbeddedRunning(config.dataDir)) {
    await requireFreePort(config.host, config.port);
    if (config.metricsPort !== null) await requireFreePort(config.metricsHost, config.metricsPort, METRICS);
  }
  const cells = await openCells(config, sayTo(log), 'migrate');
  undo.push(() => cells.close());
  const { control } = cells;
  await control.embedded?.claimForServing();
  const build = buildVersion();
  const shown = process.stderr.isTTY; // a person reads the banner
  if (!shown)
    log.info({ version: build, node: process.versions.node, store: control.description }, 'dbvitals starts');
  const secret = secretKeys(config);

  const metrics = createMetrics(build);
  const notifications = notificationMetrics(metrics.registry);
  const escaped = new EscapedErrors(log, metrics.escaped);
  escaped.watch(fail);
  const controlWriter = openPool(control.address, 'writer', { max: 2, statementTimeout: WORK_DEADLINE_MS });
  undo.push(() => controlWriter.end());
  const served = new ServedCells(cells, { control: controlWriter, secret, log });
  undo.push(() => served.close());
  await served.open();
  const { host, port, corsOrigins, trustProxy, basePath, publicUrl } = config;
  const { allowPrivateTargets, allowConsoleSockets, tokenCommands } = config;
  const storeId = await storeIdentity(control.address, control.embedded ? config.dataDir : null);
  const settings = { host, port, corsOrigins, trustProxy, basePath, publicUrl, storeId, tls };
  const singleSignOn = config.singleSignOn && openIdentityProvider(config.singleSignOn, basePath);
  const consoleStores = {
    control: control.address,
    cells: cells.directory && served.list.map(({ consoleAddress }) => consoleAddress),
  };
  const requestLog = new RequestLog(log);
  const console = await openConsole(consoleStores, {
    ...{ log, requestLog },
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
  served.whenChanged((now) => console.useCells(now.map(({ consoleAddress }) => consoleAddress)));
  const [firstCell, ...otherCells] = served.list;
  const stores: ApiStores = {
    cells: [firstCell.address, ...otherCells.map(({ address }) => address)],
    directory: cells.directory?.address ?? null,
  };
  const failures = new FailedAuthentications();
  const writerOf = writerOfAccount(served, cells.directory && controlWriter);
  const collectorParts = { writerOf, secret, allowPrivateTargets, basePath, version: build, failures, log };
  const collectors = new CollectorApi(collectorParts);
  const api = await startApiServer(stores, settings, {
    ...{ log, requestLog, metrics, failures, escaped },
    handlerOf: (url) => (isConsole(url) ? console.handle : isCollector(url) ? collectors.handle : null),
  });
  undo.push(() => api.close());
  served.whenChanged((now) => api.useCells(now.map(({ address }) => address)));
  if (config.tlsFiles && tls) undo.push(followFiles(config.tlsFiles, tls, { api, metrics, log }));
  undo.push(() => collectors.hangUp());
  undo.push(() => console.hangUp()); // else the shutdown would wait for its open streams
  if (config.metricsPort !== null) {
    const watched = watchCells(cells, served.list, { control: controlWriter, metrics, notifications });
    undo.push(() => watched.close());
    served.whenChanged((now) => watched.use(now));
    const at = [config.metricsHost, config.metricsPort] as const;
    const open = () => serveMetrics(metrics.registry, ...at, api.notReady, escaped);
    const server = await listen(open, config.metricsPort, METRICS);
    undo.push(() => server.close());
  }

  const isSetUp = firstCell.opened !== null && firstCell.hasSecret;
  const first = isSetUp ? await setUp(firstCell.opened, controlWriter, { config, secret, log }) : null;
  const { allowPrivateDestinations: allowPrivate, smtpUrl, mailFrom } = config;
  const sender = startSender({ allowPrivate, smtpUrl, mailFrom, log });
  undo.push(() => sender.stop());
  const parts = {
    ...{ config, metrics, notifications, sender },
    concurrency: options.monitor ? options.concurrency : null,
    consoleUrl: () => consoleUrl(config, api.port),
  };
  const retentionOf = retentionMetrics(metrics.registry, Object.keys(cellLabels(cells.places[0])));
  served.startRounds(({ place }) => ({ ...parts, retention: retentionOf(cellLabels(place)) }));
  const ofControl = cells.hasOwnControl ? retentionOf(CONTROL_LABELS) : null;
  const controlRounds = startControlRounds(cells, {
    log,
    ...(ofControl && { measure: ofControl.removed, failed: ofControl.failed, ended: ofControl.ended }),
  });
  undo.push(() => controlRounds?.stop());
  undo.push(() => served.stopRounds());
  const reloading = reloadOnHangup(
    [
      reloadSecretKeys(
        secret,
        () => rereadSecretKeys(config),
        () => served.storeAddresses,
      ),
      served.reloading(() => config.cells && readCellsFile(config.cells.path)),
    ],
    log,
  );
  undo.push(() => reloading.stop());
  undo.push(async () => {
    log.info({ drain_seconds: config.drainSeconds }, 'dbvitals stops: requests under way are answered first');
    api.leave();
    await wait(1_000 * config.drainSeconds);
  });
  const url = urlOf(config, api.port);
  if (control.embedded) undo.push(recordServiceAddress(config.dataDir, consoleUrl(config, api.port)));
  const stood = served.list.map(({ opened }) => opened).filter((opened) => opened !== null);
  if (served.list.every((cell) => cell.opened !== null && !cell.hasSecret)) {
    log.warn({ url }, 'dbvitals listens, and is not ready until it has the secret key of the store');
    return;
  }
  process.stdout.write(await startupBanner(stood, first, url, consoleUrl(config, api.port)));
  if (!shown) log.info({ url }, 'dbvitals is ready');
}

/** Follows the files of the certificate, and serves what they have. Returns what stops it. */
function followFiles(
  files: NonNullable<Config['tlsFiles']>,
  tls: Tls,
  { api, metrics, log }: { api: ApiServer; metrics: Metrics; log: Logger },
): () => unknown {
  let served = tls;
  const renew = (fresh: Tls) => {
    served = fresh;
    api.renew(fresh);
  };
  const following = followTls(files, tls, { log, renew });
  metrics.watchCertificate(() => certificateOf(served).validToDate);
  return () => following.stop();
}

/** Prints the steps of the embedded PostgreSQL as text on a terminal, else logs them, so that every line is JSON. */
function sayTo(log: Logger): Say {
  return (step, level = 'info') =>
    process.stderr.isTTY ? process.stderr.write(stepLine(step)) : log[level](step);
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
