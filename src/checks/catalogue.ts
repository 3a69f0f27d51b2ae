import type { Check } from './check.ts';
import { autovacuumOff } from './postgres/autovacuum-off.ts';
import { connSaturation } from './postgres/conn-saturation.ts';
import { deadTuples } from './postgres/dead-tuples.ts';
import { duplicateIndex } from './postgres/duplicate-index.ts';
import { fkUnindexed } from './postgres/fk-unindexed.ts';
import { fsyncOff } from './postgres/fsync-off.ts';
import { idleInTxn } from './postgres/idle-in-txn.ts';
import { invalidIndex } from './postgres/invalid-index.ts';
import { longQuery } from './postgres/long-query.ts';
import { noPrimaryKey } from './postgres/no-primary-key.ts';
import { sequenceExhaustion } from './postgres/sequence-exhaustion.ts';
import { sharedBuffersLow } from './postgres/shared-buffers-low.ts';
import { versionEol } from './postgres/version-eol.ts';
import { xidWraparound } from './postgres/xid-wraparound.ts';

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

/** Every check of a PostgreSQL server, in the order in which they run and are listed. */
export const postgresChecks: readonly Check[] = [
  connSaturation,
  idleInTxn,
  longQuery,
  xidWraparound,
  autovacuumOff,
  deadTuples,
  invalidIndex,
  duplicateIndex,
  fkUnindexed,
  noPrimaryKey,
  sequenceExhaustion,
  fsyncOff,
  versionEol,
  sharedBuffersLow,
];
