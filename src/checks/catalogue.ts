import type { Check } from './check.ts';
import { archiverFailing } from './postgres/archiver-failing.ts';
import { autovacuumOff } from './postgres/autovacuum-off.ts';
import { blockedSessions } from './postgres/blocked-sessions.ts';
import { cacheHitLow } from './postgres/cache-hit-low.ts';
import { checkpointsRequested } from './postgres/checkpoints-requested.ts';
import { checksumFailures } from './postgres/checksum-failures.ts';
import { connSaturation } from './postgres/conn-saturation.ts';
import { deadTuples } from './postgres/dead-tuples.ts';
import { deadlocks } from './postgres/deadlocks.ts';
import { disabledTrigger } from './postgres/disabled-trigger.ts';
import { duplicateIndex } from './postgres/duplicate-index.ts';
import { extensionOutdated } from './postgres/extension-outdated.ts';
import { fkTypeMismatch } from './postgres/fk-type-mismatch.ts';
import { fkUnindexed } from './postgres/fk-unindexed.ts';
import { fsyncOff } from './postgres/fsync-off.ts';
import { idleInTxn } from './postgres/idle-in-txn.ts';
import { indexBloatEst } from './postgres/index-bloat-est.ts';
import { invalidConstraint } from './postgres/invalid-constraint.ts';
import { invalidIndex } from './postgres/invalid-index.ts';
import { longQuery } from './postgres/long-query.ts';
import { longXact } from './postgres/long-xact.ts';
import { maxConnHigh } from './postgres/max-conn-high.ts';
import { minorOutdated } from './postgres/minor-outdated.ts';
import { mxidWraparound } from './postgres/mxid-wraparound.ts';
import { noPrimaryKey } from './postgres/no-primary-key.ts';
import { noTls } from './postgres/no-tls.ts';
import { passwordExpiring } from './postgres/password-expiring.ts';
import { pendingRestart } from './postgres/pending-restart.ts';
import { pgssMissing } from './postgres/pgss-missing.ts';
import { plannerOff } from './postgres/planner-off.ts';
import { preparedXactOld } from './postgres/prepared-xact-old.ts';
import { publicCreate } from './postgres/public-create.ts';
import { redundantIndex } from './postgres/redundant-index.ts';
import { replayPaused } from './postgres/replay-paused.ts';
import { replicaMissing } from './postgres/replica-missing.ts';
import { replicationLag } from './postgres/replication-lag.ts';
import { rollbackRatio } from './postgres/rollback-ratio.ts';
import { secdefSearchPath } from './postgres/secdef-search-path.ts';
import { seqScanHeavy } from './postgres/seq-scan-heavy.ts';
import { sequenceExhaustion } from './postgres/sequence-exhaustion.ts';
import { sharedBuffersLow } from './postgres/shared-buffers-low.ts';
import { slotInactive } from './postgres/slot-inactive.ts';
import { slotWalLeft } from './postgres/slot-wal-left.ts';
import { slowQueries } from './postgres/slow-queries.ts';
import { staleStats } from './postgres/stale-stats.ts';
import { tableAutovacuumOff } from './postgres/table-autovacuum-off.ts';
import { tableBloatEst } from './postgres/table-bloat-est.ts';
import { tempFiles } from './postgres/temp-files.ts';
import { tooManyIndexes } from './postgres/too-many-indexes.ts';
import { unloggedTable } from './postgres/unlogged-table.ts';
import { unusedIndex } from './postgres/unused-index.ts';
import { versionEol } from './postgres/version-eol.ts';
import { xidWraparound } from './postgres/xid-wraparound.ts';
import { xminHeld } from './postgres/xmin-held.ts';

/** What the monitor finds out by connecting, without a statement: the database did not answer. */
export const CONN_UNREACHABLE = {
  id: 'CONN_UNREACHABLE',
  title: 'Database unreachable',
  category: 'availability',
  worst: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** What the monitor finds out by connecting, without a statement: the database refused the credentials. */
export const CONN_AUTH_FAILED = {
  id: 'CONN_AUTH_FAILED',
  title: 'Credentials refused',
  category: 'availability',
  worst: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** What the checks that were skipped for want of a privilege ask for, all in one finding. */
export const PG_PRIVILEGE_MISSING = {
  id: 'PG_PRIVILEGE_MISSING',
  title: 'Privilege missing',
  category: 'configuration',
  worst: 'info',
  volatile: false,
} as const satisfies Partial<Check>;

/** The same of a MySQL or MariaDB server. */
export const MY_PRIVILEGE_MISSING = {
  ...PG_PRIVILEGE_MISSING,
  id: 'MY_PRIVILEGE_MISSING',
} as const satisfies Partial<Check>;

/** Every check of a PostgreSQL server, in the order in which they run and are listed. */
export const postgresChecks: readonly Check[] = [
  connSaturation,
  idleInTxn,
  longQuery,
  blockedSessions,
  xidWraparound,
  mxidWraparound,
  autovacuumOff,
  xminHeld,
  deadTuples,
  invalidIndex,
  unusedIndex,
  duplicateIndex,
  fkUnindexed,
  noPrimaryKey,
  sequenceExhaustion,
  replicationLag,
  slotInactive,
  archiverFailing,
  fsyncOff,
  checksumFailures,
  versionEol,
  longXact,
  preparedXactOld,
  maxConnHigh,
  tableAutovacuumOff,
  staleStats,
  tableBloatEst,
  redundantIndex,
  indexBloatEst,
  tooManyIndexes,
  seqScanHeavy,
  invalidConstraint,
  disabledTrigger,
  unloggedTable,
  fkTypeMismatch,
  slotWalLeft,
  replicaMissing,
  replayPaused,
  checkpointsRequested,
  cacheHitLow,
  tempFiles,
  deadlocks,
  rollbackRatio,
  slowQueries,
  pgssMissing,
  minorOutdated,
  pendingRestart,
  sharedBuffersLow,
  plannerOff,
  extensionOutdated,
  noTls,
  passwordExpiring,
  publicCreate,
  secdefSearchPath,
];

/** Every check of a MySQL or MariaDB server, in the order in which they run and are listed. */
export const mysqlChecks: readonly Check[] = [];
