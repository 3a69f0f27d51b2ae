import { expect } from 'vitest';
import { isSteps } from '../paste.ts';

/**
 * What the remediation of a check is, if it names nothing that people name: a `sentence`, `steps` that begin with a
 * look, a `setting` of the whole server, or another `statement` that is always the same.
 */
type Plain = 'sentence' | 'steps' | 'setting' | 'statement';

/** Checks whose remediation names no object. Each other check has a case with a hostile name. */
export const plainRemediations: Readonly<Record<string, Plain>> = {
  PG_ARCHIVER_FAILING: 'steps',
  PG_AUTOVACUUM_OFF: 'setting',
  PG_CACHE_HIT_LOW: 'steps',
  PG_CHECKPOINTS_REQUESTED: 'setting',
  PG_CHECKSUM_FAILURES: 'steps',
  PG_CONN_SATURATION: 'steps',
  PG_DATABASE_LEFT_OUT: 'steps',
  PG_DEADLOCKS: 'steps',
  PG_FSYNC_OFF: 'setting',
  PG_MAX_CONN_HIGH: 'steps',
  PG_MINOR_OUTDATED: 'sentence',
  PG_NO_TLS: 'steps',
  PG_PENDING_RESTART: 'sentence',
  PG_PGSS_MISSING: 'statement',
  PG_PUBLIC_CREATE: 'statement',
  PG_REPLAY_PAUSED: 'steps',
  PG_REPLICATION_LAG: 'steps',
  PG_REPLICA_MISSING: 'steps',
  PG_ROLLBACK_RATIO: 'steps',
  PG_SHARED_BUFFERS_LOW: 'setting',
  PG_STANDBY_CUT_OFF: 'steps',
  PG_VERSION_EOL: 'sentence',
  PG_WAL_KEPT: 'steps',
};

/** Expects of a real remediation that it is what {@link plainRemediations} says of its check, if it says anything. */
export function expectPlain(check_id: string, remediation: string): void {
  const plain = plainRemediations[check_id];
  if (plain !== undefined) expect([check_id, kindOf(remediation)]).toEqual([check_id, plain]);
}

const SETTING = /^ALTER SYSTEM SET \w+ = [\w.']+;(?: SELECT pg_reload_conf\(\);)?(?: -- .+)?$/;
const FIXED = [
  'REVOKE CREATE ON SCHEMA public FROM PUBLIC;',
  'CREATE EXTENSION pg_stat_statements;',
  "ALTER SYSTEM SET pg_stat_statements.track = 'top'; SELECT pg_reload_conf();",
];

function kindOf(remediation: string): Plain | undefined {
  if (isSteps(remediation)) return 'steps';
  if (SETTING.test(remediation)) return 'setting';
  if (FIXED.includes(remediation)) return 'statement';
  return /^[A-Z][a-z].*\.$/.test(remediation) ? 'sentence' : undefined;
}
