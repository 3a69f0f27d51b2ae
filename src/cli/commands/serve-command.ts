import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { startSealing } from '../../activity/seals/record-seal-rounds.ts';
import { openSealFile } from '../../activity/seals/seal-file.ts';
import type { Config } from '../../config/config.ts';
import { version } from '../../config/package-root.ts';
import { secretKeys } from '../../config/secret-key.ts';
import { bindAtStart } from '../../connections/bind-credentials.ts';
import { followDataFolder } from '../../connections/watch-own-store.ts';
import { openConsole } from '../../console/open-console.ts';
import { backupTimes } from '../../database/backup/last-backup.ts';
import { openPool, STORE_DEADLINE_MS } from '../../database/connect.ts';
import type { Say } from '../../database/embedded.ts';
import { openStore, requestAddress } from '../../database/open.ts';
import { errorFields } from '../../database/store-failure.ts';
import { storeIdentity } from '../../database/store-identity.ts';
import { storeSize } from '../../database/store-size.ts';
import { EscapedErrors } from '../../http/edge/escaped-errors.ts';
import { certificateOf, type Tls } from '../../http/edge/tls.ts';
import { FailedAuthentications } from '../../http/failed-authentications.ts';
import { countDueConnections } from '../../monitor/claim.ts';
import { checkNow, startMonitor } from '../../monitor/schedule.ts';
import { startAlertRounds } from '../../notifications/alerts/alert-rounds.ts';
import { startHeartbeats } from '../../notifications/alerts/heartbeat-rounds.ts';
import { FORMATS } from '../../notifications/channels/formats.ts';
import { startAskingRecipients } from '../../notifications/destinations/ask-recipients.ts';
import { readFigures } from '../../notifications/dispatch/read-figures.ts';
import { startDispatcher } from '../../notifications/dispatch/start-dispatcher.ts';
import { startSender } from '../../notifications/sending/send-in-child.ts';
import { startApiServer } from '../../server/api-server.ts';
import { firstStart } from '../../server/first-start.ts';
import { consoleUrl, listen, passkeyOrigin, urlOf } from '../../server/listen.ts';
import { serveMetrics } from '../../server/metrics-listener.ts';
import { STEP_DEADLINE_MS, startRetention } from '../../server/retention.ts';
import { startRollingUp } from '../../server/roll-up-rounds.ts';
import { startupBanner } from '../../server/startup-banner.ts';
import { followTls, readTls } from '../../server/tls-files.ts';
import { openIdentityProvider } from '../../sign-in/identity-provider.ts';
import { askOnce } from '../../telemetry/ask-once.ts';
import { createMetrics } from '../../telemetry/metrics.ts';
import { notificationMetrics } from '../../telemetry/notification-metrics.ts';

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
  const store = await openStore(config, sayTo(log), 'make');
  undo.push(() => store.close());
  await store.embedded?.claimForServing();
  const shown = process.stderr.isTTY; // a person reads the banner
  if (!shown) log.info({ version, node: process.versions.node, store: store.description }, 'dbvitals starts');
  const secret = secretKeys(config);

  const metrics = createMetrics();
  const notifications = notificationMetrics(metrics.registry);
  const escaped = new EscapedErrors(log, metrics.escaped);
  escaped.watch(fail);
  const requests = await requestAddress(store, config.poolerUrl);
  const writer = openPool(store.address, 'writer', { max: 6 });
  undo.push(() => writer.end());
  await bindAtStart(writer, secret, log);

  const { host, port, corsOrigins, trustProxy, basePath, publicUrl } = config;
  const { allowPrivateTargets, allowConsoleSockets, tokenCommands } = config;
  const storeId = await storeIdentity(store.address, store.embedded ? config.dataDir : null);
  const settings = { host, port, corsOrigins, trustProxy, basePath, publicUrl, storeId, tls };
  const singleSignOn = config.singleSignOn && openIdentityProvider(config.singleSignOn, basePath);
  const console = await openConsole(store.address, {
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
  const api = await startApiServer(requests, settings, {
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
    // A separate pool with a deadline: on a hanging connection, the next query would wait forever.
    const watching = openPool(store.address, 'writer', { max: 1, statementTimeout: STORE_DEADLINE_MS });
    undo.push(() => watching.end());
    const readStore = async () => ({
      sizeBytes: await storeSize(watching),
      ...(await countDueConnections(watching)),
      ...(await backupTimes(watching)),
    });
    metrics.watchStore(askOnce(readStore, STORE_DEADLINE_MS));
    notifications.watchStore(askOnce(() => readFigures(watching), STORE_DEADLINE_MS));
    const port = config.metricsPort;
    const server = await listen(
      () => serveMetrics(metrics.registry, config.metricsHost, port, api.notReady, escaped),
      port,
    );
    undo.push(() => server.close());
  }

  const deps = { writer, secret, allowPrivateTargets, tokenCommands, log };
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
  if (options.monitor) {
    const monitor = startMonitor({ ...deps, concurrency: options.concurrency, measure: metrics.checked });
    metrics.watchMonitor(monitor.running);
    undo.push(() => monitor.stop());
  }
  const { allowPrivateDestinations: allowPrivate, smtpUrl, mailFrom } = config;
  const sender = startSender({ allowPrivate, smtpUrl, mailFrom, log });
  undo.push(() => sender.stop());
  const ownUrl = () => consoleUrl(config, api.port);
  const dispatching = openPool(store.address, 'writer', { max: 4, name: 'dispatcher' });
  undo.push(() => dispatching.end());
  const dispatcher = startDispatcher({
    ...{ writer: dispatching, secret, send: sender.send, formats: FORMATS, log, measure: notifications },
    consoleUrl: ownUrl,
  });
  undo.push(() => dispatcher.stop());
  const alerting = openPool(store.address, 'writer', {
    ...{ max: 1, statementTimeout: STEP_DEADLINE_MS, name: 'alerts' },
  });
  undo.push(() => alerting.end());
  const alertRounds = startAlertRounds({ writer: alerting, log, failed: metrics.notRetained });
  undo.push(() => alertRounds.stop());
  const heartbeats = startHeartbeats({
    ...{ writer: alerting, secret, send: sender.send, log, measure: notifications },
  });
  undo.push(() => heartbeats.stop());
  if (smtpUrl !== null) {
    const parts = { writer: dispatching, secret, send: sender.send, consoleUrl: ownUrl };
    const asking = startAskingRecipients(parts, log);
    undo.push(() => asking.stop());
  }
  const owner = openPool(store.address, 'owner', { max: 1, statementTimeout: STEP_DEADLINE_MS });
  undo.push(() => owner.end());
  const { activityDays, sealFile } = config;
  const retention = startRetention({
    ...{ owner, activityDays, log },
    ...{ measure: metrics.removed, failed: metrics.notRetained, ended: metrics.roundEnded },
  });
  undo.push(() => retention.stop());
  const sealer = openPool(store.address, 'owner', { max: 1, statementTimeout: STEP_DEADLINE_MS });
  undo.push(() => sealer.end());
  const sealing = startSealing({
    ...{ owner: sealer, secret, activityDays, log, failed: metrics.notRetained },
    sealFile: sealFile === null ? null : openSealFile(sealFile),
  });
  undo.push(() => sealing.stop());
  const roller = openPool(store.address, 'writer', { max: 1, statementTimeout: STEP_DEADLINE_MS });
  undo.push(() => roller.end());
  const rollingUp = startRollingUp({ writer: roller, log, failed: metrics.notRetained });
  undo.push(() => rollingUp.stop());
  undo.push(async () => {
    log.info({ drain_seconds: config.drainSeconds }, 'dbvitals stops: requests under way are answered first');
    api.leave();
    await wait(1_000 * config.drainSeconds);
  });
  const url = urlOf(config, api.port);
  process.stdout.write(await startupBanner(writer, store, first, url, consoleUrl(config, api.port)));
  if (!shown) log.info({ url }, 'dbvitals is ready');
}

/** Prints the steps of the embedded PostgreSQL as text on a terminal, else logs them, so that every line is JSON. */
function sayTo(log: Logger): Say {
  return (step, level = 'info') =>
    process.stderr.isTTY ? process.stderr.write(`${step} …\n`) : log[level](step);
}
