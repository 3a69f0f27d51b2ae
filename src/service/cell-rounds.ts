import type pg from 'pg';
import type { Logger } from 'pino';
import { startCollectorWatch } from '../accounts/collectors/watch-collectors.ts';
import { startSealing } from '../activity/seals/record-seal-rounds.ts';
import { openSealFile } from '../activity/seals/seal-file.ts';
import type { Config } from '../config/config.ts';
import { startMonitor } from '../monitor/schedule.ts';
import { startAlertRounds } from '../notifications/alerts/alert-rounds.ts';
import { startHeartbeats } from '../notifications/alerts/heartbeat-rounds.ts';
import { FORMATS } from '../notifications/channels/formats.ts';
import { startAskingRecipients } from '../notifications/destinations/ask-recipients.ts';
import { startLearningUnsubscribed } from '../notifications/destinations/learn-unsubscribed.ts';
import { startDigestRounds } from '../notifications/digest/digest-rounds.ts';
import { startDispatcher } from '../notifications/dispatch/start-dispatcher.ts';
import type { startSender } from '../notifications/sending/send-in-child.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import type { Metrics } from '../platform/telemetry/metrics.ts';
import type { notificationMetrics } from '../platform/telemetry/notification-metrics.ts';
import type { RetentionMetrics } from '../platform/telemetry/retention-metrics.ts';
import { openPool, WORK_DEADLINE_MS } from '../store/connect.ts';
import type { Cell, Cells } from '../store/directory/open-cells.ts';
import { STEP_DEADLINE_MS, startRetention } from './retention.ts';
import { startRollingUp } from './roll-up-rounds.ts';

/** A connection for one step after the other. */
const STEP_POOL = { max: 1, statementTimeout: STEP_DEADLINE_MS };

/** What the rounds of every cell share. */
export interface CellParts {
  config: Config;
  log: Logger;
  secret: SecretKeys;
  metrics: Metrics;
  retention: RetentionMetrics;
  notifications: ReturnType<typeof notificationMetrics>;
  /** The child process that talks to destinations. */
  sender: ReturnType<typeof startSender>;
  consoleUrl: () => string;
  /** How many health checks of a cell run at a time; null = none. */
  concurrency: number | null;
  /** A pool of the writer on the control store. */
  control: pg.Pool;
}

/** The rounds of one cell under way. */
export interface CellRounds {
  stop(): Promise<void>;
}

/**
 * Starts what a service does by itself for one cell: health checks, notifications, alerts, retention, seals and rolling up.
 * Each cell has its own pools, so one that hangs delays no other.
 */
export function startCellRounds(cells: Cells, cell: Cell, writer: pg.Pool, parts: CellParts): CellRounds {
  const { config, log, secret, metrics, retention, notifications } = parts;
  const { sender, consoleUrl, concurrency, control } = parts;
  const undo: (() => unknown)[] = [];
  const open = (...[role, options]: Parameters<typeof openRole>) => {
    const pool = openRole(role, options);
    undo.push(() => pool.end());
    return pool;
  };
  const openRole = (role: 'writer' | 'owner', options: Parameters<typeof openPool>[2]) =>
    role === 'writer'
      ? cells.openPool(cell, role, { ...options, keepsPlans: true }, control)
      : openPool(cell.store.address, role, options);
  const start = <Rounds extends { stop(): unknown }>(rounds: Rounds): Rounds => {
    undo.push(() => rounds.stop());
    return rounds;
  };
  const { allowPrivateTargets, tokenCommands, activityDays, sealFile } = config;
  const { send } = sender;
  const { failed } = retention;
  if (concurrency !== null) {
    const monitor = { writer, secret, allowPrivateTargets, tokenCommands, log, pulses: config.pulse };
    metrics.watchMonitor(start(startMonitor({ ...monitor, concurrency, measure: metrics.checked })));
  }
  const dispatching = open('writer', { max: 4, statementTimeout: WORK_DEADLINE_MS, name: 'dispatcher' });
  start(
    startDispatcher({
      ...{ writer: dispatching, secret, send, formats: FORMATS, log, measure: notifications },
      consoleUrl,
    }),
  );
  const alerting = open('writer', { ...STEP_POOL, name: 'alerts' });
  start(startAlertRounds({ writer: alerting, log, failed }));
  // A pool of their own: on a Monday morning all accounts have one, and alerts don't wait for that.
  const digesting = open('writer', { ...STEP_POOL, name: 'digests' });
  start(startDigestRounds({ writer: digesting, log, failed }));
  start(startCollectorWatch(alerting, log));
  start(startHeartbeats({ writer: alerting, secret, send, log, measure: notifications }));
  if (config.smtpUrl !== null)
    start(startAskingRecipients({ writer: dispatching, secret, send, consoleUrl }, log));
  start(
    startRetention({
      ...{ owner: open('owner', STEP_POOL), activityDays, log },
      ...{ measure: retention.removed, failed, ended: retention.ended },
    }),
  );
  // A single store learns it in the transaction of the person who unsubscribes.
  if (cells.directory) start(startLearningUnsubscribed(dispatching, log));
  const turns = cells.directory && openPool(cells.directory.address, 'owner', STEP_POOL);
  if (turns) undo.push(() => turns.end());
  start(
    startSealing({
      ...{ owner: open('owner', STEP_POOL), secret, activityDays },
      ...{ log, failed, sealFile: sealFile === null ? null : openSealFile(sealFile, turns) },
    }),
  );
  start(startRollingUp({ writer: open('writer', STEP_POOL), log, failed }));
  return {
    async stop() {
      for (const end of undo.reverse()) await end();
    },
  };
}
