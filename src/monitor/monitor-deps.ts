import type pg from 'pg';
import type { Logger } from 'pino';
import type { Thresholds } from '../checks/check.ts';
import type { TokenCommands } from '../config/token-commands.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import type { Limits } from './limits.ts';
import type { Progress } from './progress.ts';

/** What a health check needs besides the connection. */
export interface MonitorDeps {
  /** A pool of the writer's role on the store. */
  writer: pg.Pool;
  /** The keys of DBVITALS_SECRET_KEY. */
  secret: SecretKeys;
  allowPrivateTargets: boolean;
  /** The commands that print tokens, by the names that connections have for them; absent = none. */
  tokenCommands?: TokenCommands;
  /** Thresholds that replace the check's own, by check id. */
  thresholds?: Readonly<Record<string, Thresholds>>;
  /** Limits that replace the monitor's own. */
  limits?: Limits;
  /** Receives the progress of a run. */
  show?: (progress: Progress) => void;
  /** Who requested the check, as recorded in the log. */
  actor?: Readonly<Record<string, unknown>>;
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;
}

/** Identifies a connection of an account. */
export interface ConnectionKey {
  accountId: number;
  connectionId: number;
}
