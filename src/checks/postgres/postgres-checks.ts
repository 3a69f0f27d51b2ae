import type { Check } from '../check.ts';
import { archiverFailing } from './archiver-failing.ts';
import { autovacuumOff } from './autovacuum-off.ts';
import { blockedSessions } from './blocked-sessions.ts';
import { cacheHitLow } from './cache-hit-low.ts';
import { checkpointsRequested } from './checkpoints-requested.ts';
import { checksumFailures } from './checksum-failures.ts';
import { collationVersion } from './collation-version.ts';
import { connSaturation } from './conn-saturation.ts';
import { databaseInvalid } from './database-invalid.ts';
import { databaseLeftOut } from './database-left-out.ts';
import { deadTuples } from './dead-tuples.ts';
import { deadlocks } from './deadlocks.ts';
import { disabledTrigger } from './disabled-trigger.ts';
import { duplicateIndex } from './duplicate-index.ts';
import { eventTriggerDisabled } from './event-trigger-disabled.ts';
import { extensionOutdated } from './extension-outdated.ts';
import { fkTypeMismatch } from './fk-type-mismatch.ts';
import { fkUnindexed } from './fk-unindexed.ts';
import { fsyncOff } from './fsync-off.ts';
import { idleInTxn } from './idle-in-txn.ts';
import { indexBloatEst } from './index-bloat-est.ts';
import { invalidConstraint } from './invalid-constraint.ts';
import { invalidIndex } from './invalid-index.ts';
import { longQuery } from './long-query.ts';
import { longXact } from './long-xact.ts';
import { maxConnHigh } from './max-conn-high.ts';
import { minorOutdated } from './minor-outdated.ts';
import { mixedCollations } from './mixed-collations.ts';
import { mxidWraparound } from './mxid-wraparound.ts';
import { noPrimaryKey } from './no-primary-key.ts';
import { noTls } from './no-tls.ts';
import { passwordExpiring } from './password-expiring.ts';
import { pendingRestart } from './pending-restart.ts';
import { pgssMissing } from './pgss-missing.ts';
import { plannerOff } from './planner-off.ts';
import { preparedXactOld } from './prepared-xact-old.ts';
import { publicCreate } from './public-create.ts';
import { queryNew } from './query-new.ts';
import { queryReads } from './query-reads.ts';
import { querySlower } from './query-slower.ts';
import { redundantIndex } from './redundant-index.ts';
import { replayPaused } from './replay-paused.ts';
import { replicaMissing } from './replica-missing.ts';
import { replicationLag } from './replication-lag.ts';
import { rollbackRatio } from './rollback-ratio.ts';
import { secdefSearchPath } from './secdef-search-path.ts';
import { seqScanHeavy } from './seq-scan-heavy.ts';
import { sequenceExhaustion } from './sequence-exhaustion.ts';
import { sharedBuffersLow } from './shared-buffers-low.ts';
import { slotInactive } from './slot-inactive.ts';
import { slotWalLeft } from './slot-wal-left.ts';
import { slowQueries } from './slow-queries.ts';
import { staleStats } from './stale-stats.ts';
import { standbyCutOff } from './standby-cut-off.ts';
import { subscriptionStopped } from './subscription-stopped.ts';
import { tableAutovacuumOff } from './table-autovacuum-off.ts';
import { tableBloatEst } from './table-bloat-est.ts';
import { tempFiles } from './temp-files.ts';
import { tooManyIndexes } from './too-many-indexes.ts';
import { unloggedTable } from './unlogged-table.ts';
import { unusedIndex } from './unused-index.ts';
import { versionEol } from './version-eol.ts';
import { walKept } from './wal-kept.ts';
import { xidWraparound } from './xid-wraparound.ts';
import { xminHeld } from './xmin-held.ts';

/** Every check of a PostgreSQL server, in the order in which they are listed. */
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
  eventTriggerDisabled,
  unloggedTable,
  fkTypeMismatch,
  mixedCollations,
  collationVersion,
  slotWalLeft,
  replicaMissing,
  replayPaused,
  standbyCutOff,
  subscriptionStopped,
  walKept,
  checkpointsRequested,
  cacheHitLow,
  tempFiles,
  deadlocks,
  rollbackRatio,
  slowQueries,
  querySlower,
  queryNew,
  queryReads,
  pgssMissing,
  minorOutdated,
  databaseInvalid,
  databaseLeftOut,
  pendingRestart,
  sharedBuffersLow,
  plannerOff,
  extensionOutdated,
  noTls,
  passwordExpiring,
  publicCreate,
  secdefSearchPath,
];
