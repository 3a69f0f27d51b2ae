import type { Check } from '../check.ts';
import { onlyRow } from '../columns.ts';

// A primary raises an error for this function, so the statement does not call it there.
const sql = `
  select pg_is_in_recovery() as standby,
         case when pg_is_in_recovery() then pg_is_wal_replay_paused() else false end as paused`;

/** A standby whose replay is paused: its data become stale, and it keeps WAL. */
export const replayPaused: Check = {
  id: 'PG_REPLAY_PAUSED',
  title: 'Replay is paused',
  category: 'replication',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows) => {
    const row = onlyRow(rows);
    const passMessage = row['standby'] === true ? 'Replay is not paused.' : 'This server is not a standby.';
    if (row['paused'] !== true) return { faults: [], measures: [], passMessage };
    return {
      passMessage,
      measures: [],
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: 'Replay is paused on this standby, so its data become stale; resume it.',
          // Resuming ends a recovery that stopped at its target, and a standby with too small settings.
          remediation:
            'SELECT pg_get_wal_replay_pause_state(), pg_last_wal_replay_lsn(), pg_last_xact_replay_timestamp(); -- then look for "recovery has paused" in its log; if nobody paused it on purpose and no setting is too small, run SELECT pg_wal_replay_resume();',
        },
      ],
    };
  },
};
