import { numberIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { counted, grouped, percent, size } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { alterSystem } from './alter-system.ts';
import { countedFrom, counterCheck, total } from './counter-check.ts';

/** Share of checkpoints that came because of the WAL written, and the minimum of such; dbvitals' own. */
const thresholds = { warning: 0.5, minimum_requested: 3 };

// From 17 on checkpoints have their own view. The server does not count why one was requested: by the WAL, CHECKPOINT, CREATE
// DATABASE or a backup. It asks for one when it has written `wal_between` since the last, as xlog.c computes it; so the WAL
// written says how many it can have asked for. Aurora has neither checkpoints nor a position of its WAL.
const sql = (version: number) => `
  select null::text as object,
         ${version < 170_000 ? 'checkpoints_timed' : 'num_timed'}::float8 as timed,
         ${version < 170_000 ? 'checkpoints_req' : 'num_requested'}::float8 as requested,
         pg_size_bytes(current_setting('max_wal_size'))::float8 as max_wal_size,
         pg_size_bytes(current_setting('max_wal_size'))
           / (1 + current_setting('checkpoint_completion_target')::float8) as wal_between,
         coalesce(pg_wal_lsn_diff(case when exists (select from pg_proc where proname = 'aurora_version') then null
                                       when pg_is_in_recovery() then pg_last_wal_replay_lsn()
                                       else pg_current_wal_lsn() end, '0/0'), 0)::float8 as wal,
         ${countedFrom}
    from ${version < 170_000 ? 'pg_stat_bgwriter' : 'pg_stat_checkpointer'}`;

/** Checkpoints that come early because the WAL reached max_wal_size: each makes PostgreSQL log whole pages again. */
export const checkpointsRequested = counterCheck({
  id: 'PG_CHECKPOINTS_REQUESTED',
  title: 'Checkpoints too frequent',
  category: 'durability',
  maxSeverity: 'warning',
  thresholds,
  sql,
  counters: ['timed', 'requested', 'wal'],
  measure: (grown, _minutes, { thresholds: { warning } }) => {
    const { all, byWal } = checkpoints(grown);
    if (all === 0) return null;
    return { ...atLeast('requested_checkpoints_ratio', warning), object: null, value: byWal / all };
  },
  fault: (grown, _minutes, facts) => {
    const { warning, minimum_requested } = facts.thresholds;
    const { all, byWal } = checkpoints(grown);
    if (byWal < minimum_requested || byWal / all < warning) return null;
    const bytes = numberIn(grown, 'max_wal_size');
    const megabytes = bytes / 1024 / 1024;
    return {
      severity: 'warning',
      object: null,
      metricLine: `${grouped(byWal)} of ${counted(all, 'checkpoint')} (${percent(byWal / all)}) came early since the last run, because ${size(numberIn(grown, 'wal'))} of WAL were written; raise max_wal_size above its ${size(bytes)}.`,
      remediation: alterSystem(facts, {
        name: 'max_wal_size',
        value: megabytes * 2,
        literal: `'${megabytes * 2}MB'`,
      }),
    };
  },
  passMessage: (grown) =>
    `${counted(total(grown, 'timed'), 'checkpoint')} by time and ${grouped(total(grown, 'requested'))} requested since the last run.`,
});

/** Those by time and those that the WAL asked for; `byWal` are the latter. */
function checkpoints(grown: Row): { all: number; byWal: number } {
  const possible = Math.floor(numberIn(grown, 'wal') / numberIn(grown, 'wal_between'));
  const byWal = Math.min(numberIn(grown, 'requested'), possible);
  return { all: byWal + numberIn(grown, 'timed'), byWal };
}
