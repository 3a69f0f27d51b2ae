import type { Check } from '../check.ts';
import { onlyRow, textIn, textOrNone } from '../columns.ts';
import { duration } from '../wording.ts';
import { countOf } from '../worst-measures.ts';

// Without pg_monitor pg_settings leaves primary_conninfo out, and the receiver's status is null.
const sql = `
  select pg_is_in_recovery() as standby,
         (select setting <> '' from pg_settings where name = 'primary_conninfo') as has_source,
         (select status from pg_stat_wal_receiver) as receiver,
         pg_last_wal_replay_lsn()::text as replayed,
         extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as age,
         quote_ident(current_user) as me`;

/** A standby that gets no WAL from its source: its data become stale, and it can't take over. */
export const standbyCutOff: Check = {
  id: 'PG_STANDBY_CUT_OFF',
  title: 'Standby receives no WAL',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  comparesRuns: true,
  sql: () => sql,
  judge: (rows, { before }) => {
    const row = onlyRow(rows);
    const well = (passMessage: string) => ({
      faults: [],
      passMessage,
      measures: [countOf('stopped_replications_count', 0)],
    });
    if (row['standby'] !== true)
      return { faults: [], passMessage: 'This server is not a standby.', measures: [] };
    if (row['has_source'] === null)
      return {
        skipped: 'Not measured: the source of the standby is hidden.',
        grant: `GRANT pg_monitor TO ${textIn(row, 'me')};`,
      };
    if (row['has_source'] === false) return well('The standby restores from an archive only.');
    if (row['receiver'] === 'streaming') return well('The standby receives WAL.');
    const [last] = before?.rows ?? [];
    if (last && textOrNone(last, 'replayed') !== textOrNone(row, 'replayed'))
      return well('The standby catches up from an archive.');
    const age =
      typeof row['age'] === 'number'
        ? `; the last transaction that it replayed is ${duration(Math.max(0, row['age']))} old`
        : '';
    return {
      passMessage: '',
      measures: [countOf('stopped_replications_count', 1)],
      faults: [
        {
          severity: 'critical',
          object: null,
          metricLine: `This standby receives no WAL from its source${age}. Its log says why: find out, or make the standby anew.`,
          remediation:
            'SELECT pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn(), pg_last_xact_replay_timestamp(), (SELECT status FROM pg_stat_wal_receiver); -- then read the log of this standby. If it says that a WAL segment has already been removed, make the standby anew (pg_basebackup) and give it a replication slot. If it says that it can not connect, correct primary_conninfo, the network, or the login on the source',
        },
      ],
    };
  },
};
