import type { Check } from '../check.ts';
import { abortedConnects } from './aborted-connects.ts';
import { authLegacy } from './auth-legacy.ts';
import { autoincExhaustion } from './autoinc-exhaustion.ts';
import { binlogNoExpiry } from './binlog-no-expiry.ts';
import { binlogOff } from './binlog-off.ts';
import { bpMiss } from './bp-miss.ts';
import { bpWaitFree } from './bp-wait-free.ts';
import { charsetLegacy } from './charset-legacy.ts';
import { connSaturation } from './conn-saturation.ts';
import { doublewriteOff } from './doublewrite-off.ts';
import { emptyPassword } from './empty-password.ts';
import { flushNot1 } from './flush-not-1.ts';
import { forceRecovery } from './force-recovery.ts';
import { galeraUnsynced } from './galera-unsynced.ts';
import { groupMemberDown } from './group-member-down.ts';
import { historyList } from './history-list.ts';
import { indexGtData } from './index-gt-data.ts';
import { joinsNoIndex } from './joins-no-index.ts';
import { localInfile } from './local-infile.ts';
import { lockWaits } from './lock-waits.ts';
import { logWaits } from './log-waits.ts';
import { longTrx } from './long-trx.ts';
import { mdlWait } from './mdl-wait.ts';
import { memoryOvercommit } from './memory-overcommit.ts';
import { mixedCollations } from './mixed-collations.ts';
import { nameResolution } from './name-resolution.ts';
import { noPrimaryKey } from './no-primary-key.ts';
import { nonInnodb } from './non-innodb.ts';
import { openFiles } from './open-files.ts';
import { queryNew } from './query-new.ts';
import { queryReads } from './query-reads.ts';
import { querySlower } from './query-slower.ts';
import { redoDisabled } from './redo-disabled.ts';
import { redoTooSmall } from './redo-too-small.ts';
import { redundantIndex } from './redundant-index.ts';
import { replicaLag } from './replica-lag.ts';
import { replicaStopped } from './replica-stopped.ts';
import { replicaWritable } from './replica-writable.ts';
import { rootRemote } from './root-remote.ts';
import { skipErrors } from './skip-errors.ts';
import { slowQueries } from './slow-queries.ts';
import { sqlModeLax } from './sql-mode-lax.ts';
import { syncBinlog } from './sync-binlog.ts';
import { tableCache } from './table-cache.ts';
import { tableDefinitionCache } from './table-definition-cache.ts';
import { threadsRunning } from './threads-running.ts';
import { tlsNotRequired } from './tls-not-required.ts';
import { tmpDisk } from './tmp-disk.ts';
import { unusedIndex } from './unused-index.ts';
import { versionEol } from './version-eol.ts';

/** Every check of a MySQL or MariaDB server, in the order in which they are listed. */
export const mysqlChecks: readonly Check[] = [
  connSaturation,
  longTrx,
  lockWaits,
  historyList,
  abortedConnects,
  nameResolution,
  threadsRunning,
  mdlWait,
  bpMiss,
  bpWaitFree,
  logWaits,
  tmpDisk,
  joinsNoIndex,
  slowQueries,
  querySlower,
  queryNew,
  queryReads,
  tableCache,
  tableDefinitionCache,
  openFiles,
  memoryOvercommit,
  redoTooSmall,
  flushNot1,
  syncBinlog,
  doublewriteOff,
  replicaStopped,
  replicaLag,
  replicaWritable,
  skipErrors,
  binlogNoExpiry,
  galeraUnsynced,
  noPrimaryKey,
  autoincExhaustion,
  nonInnodb,
  redundantIndex,
  unusedIndex,
  charsetLegacy,
  mixedCollations,
  indexGtData,
  versionEol,
  emptyPassword,
  forceRecovery,
  redoDisabled,
  binlogOff,
  groupMemberDown,
  rootRemote,
  authLegacy,
  tlsNotRequired,
  localInfile,
  sqlModeLax,
];
