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

/** Opens pools on a cell and starts rounds there, and ends all of them, the latest first. */
function undoable(cells: Cells, cell: Cell, control: pg.Pool) {
  const undo: (() => unknown)[] = [];
  return {
    open(role: 'writer' | 'owner', options: Parameters<typeof openPool>[2]): pg.Pool {
      const pool =
        role === 'writer'
          ? cells.openPool(cell, role, { ...options, keepsPlans: true }, control)
          : openPool(cell.store.address, role, options);
      undo.push(() => pool.end());
      return pool;
    },
    start<Rounds extends { stop(): unknown }>(rounds: Rounds): Rounds {
      undo.push(() => rounds.stop());
      return rounds;
    },
    async stop() {
      for (const end of undo.reverse()) await end();
    },
  };
}

/**
 * Starts what a service does by itself for one cell: health checks, notifications, alerts, retention, seals and rolling up.
 * Each cell has its own pools, so one that hangs delays no other.
 */
export function startCellRounds(cells: Cells, cell: Cell, writer: pg.Pool, parts: CellParts): CellRounds {
  const { config, log, secret, metrics, retention, concurrency } = parts;
  const { allowPrivateTargets, tokenCommands, activityDays, sealFile } = config;
  const { failed } = retention;
  const under = undoable(cells, cell, parts.control);
  const { open, start } = under;
  if (concurrency !== null) {
    const monitor = { writer, secret, allowPrivateTargets, tokenCommands, log, pulses: config.pulse };
    metrics.watchMonitor(start(startMonitor({ ...monitor, concurrency, measure: metrics.checked })));
  }
  startTelling(cells, under, parts);
  start(
    startRetention({
      ...{ owner: open('owner', STEP_POOL), activityDays, log },
      ...{ measure: retention.removed, failed, ended: retention.ended },
    }),
  );
  const turns = cells.directory && openPool(cells.directory.address, 'owner', STEP_POOL);
  if (turns) start({ stop: () => turns.end() });
  start(
    startSealing({
      ...{ owner: open('owner', STEP_POOL), secret, activityDays },
      ...{ log, failed, sealFile: sealFile === null ? null : openSealFile(sealFile, turns) },
    }),
  );
  start(startRollingUp({ writer: open('writer', STEP_POOL), log, failed }));
  return { stop: under.stop };
}

/** Starts what tells people and their programs. */
function startTelling(cells: Cells, { open, start }: ReturnType<typeof undoable>, parts: CellParts): void {
  const { config, log, secret, consoleUrl, notifications: measure } = parts;
  const { failed } = parts.retention;
  const { send } = parts.sender;
  const writer = open('writer', { max: 4, statementTimeout: WORK_DEADLINE_MS, name: 'dispatcher' });
  start(startDispatcher({ writer, secret, send, formats: FORMATS, log, measure, consoleUrl }));
  const alerting = open('writer', { ...STEP_POOL, name: 'alerts' });
  start(startAlertRounds({ writer: alerting, log, failed }));
  // A pool of their own: on a Monday morning all accounts have one, and alerts don't wait for that.
  const digesting = open('writer', { ...STEP_POOL, name: 'digests' });
  start(startDigestRounds({ writer: digesting, log, failed }));
  start(startCollectorWatch(alerting, log));
  start(startHeartbeats({ writer: alerting, secret, send, log, measure }));
  if (config.smtpUrl !== null) start(startAskingRecipients({ writer, secret, send, consoleUrl }, log));
  // A single store learns it in the transaction of the person who unsubscribes.
  if (cells.directory) start(startLearningUnsubscribed(writer, log));
}
