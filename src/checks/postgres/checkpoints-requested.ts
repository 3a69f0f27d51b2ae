import { numberIn } from '../columns.ts';
import { counted, grouped, percent, size } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { alterSystem } from './alter-system.ts';
import { countedFrom, counterCheck, total } from './counter-check.ts';

/** Share of checkpoints that were requested, and the minimum of requested ones; dbvitals' own. */
const thresholds = { warning: 0.5, minimum_requested: 3 };

// From 17 on checkpoints have their own view. max_wal_size is in MB.
const sql = (version: number) => `
  select null::text as object,
         ${version < 170_000 ? 'checkpoints_timed' : 'num_timed'}::float8 as timed,
         ${version < 170_000 ? 'checkpoints_req' : 'num_requested'}::float8 as requested,
         (select setting::float8 from pg_settings where name = 'max_wal_size') as max_wal_size,
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
  counters: ['timed', 'requested'],
  measure: (grown, _minutes, { thresholds: { warning } }) => {
    const requested = numberIn(grown, 'requested');
    const all = requested + numberIn(grown, 'timed');
    if (all === 0) return null;
    return { ...atLeast('requested_checkpoints_ratio', warning), object: null, value: requested / all };
  },
  fault: (grown, _minutes, facts) => {
    const { warning, minimum_requested } = facts.thresholds;
    const requested = numberIn(grown, 'requested');
    const all = requested + numberIn(grown, 'timed');
    if (requested < minimum_requested || requested / all < warning) return null;
    const megabytes = numberIn(grown, 'max_wal_size');
    return {
      severity: 'warning',
      object: null,
      metricLine: `${grouped(requested)} of ${counted(all, 'checkpoint')} (${percent(requested / all)}) were requested since the last run; raise max_wal_size above its ${size(megabytes * 1024 * 1024)}.`,
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
