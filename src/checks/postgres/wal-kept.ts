import { PROVIDER_NAMES } from '../../vocabulary/hosted/providers.ts';
import type { Check } from '../check.ts';
import { numberIn, onlyRow, textOrNone } from '../columns.ts';
import { size } from '../wording.ts';
import { atLeast, faultMeasure, uncompared } from '../worst-measures.ts';

/** Multiples of what the settings keep; dbvitals' own: max_wal_size is a soft limit, which a bulk load may double. */
const thresholds = { warning: 3 };

const sql = `
  select (select sum(size) from pg_ls_waldir())::float8 as bytes,
         (pg_size_bytes(current_setting('max_wal_size')) + pg_size_bytes(current_setting('wal_keep_size')))::float8
           as expected,
         slot.name as slot, slot.kept
    from (
      select case when pg_is_in_recovery() then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                  else pg_current_wal_lsn() end as lsn
    ) now
    left join lateral (
      select quote_ident(slot_name) as name, pg_wal_lsn_diff(now.lsn, restart_lsn)::float8 as kept
        from pg_replication_slots
       where restart_lsn is not null
         and wal_status is distinct from 'lost' -- an invalid slot keeps nothing, and may still say from where it did
       order by kept desc, name
       limit 1
    ) slot on true`;

/** Far more write-ahead log on the disk than the settings keep: a slot, the archiver or a standby holds it. */
export const walKept: Check<typeof thresholds> = {
  id: 'PG_WAL_KEPT',
  title: 'Much WAL kept',
  category: 'durability',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  thresholds,
  sql: () => sql,
  privilege: () => 'pg_monitor',
  judge: (rows, facts) => {
    const row = onlyRow(rows);
    const { warning } = facts.thresholds;
    const [bytes, expected] = [numberIn(row, 'bytes'), numberIn(row, 'expected')];
    const measure = { ...atLeast('wal_kept_ratio', warning), object: null, value: bytes / expected };
    const measures = [measure, { ...uncompared('wal_kept_bytes'), object: null, value: bytes }];
    const line = `pg_wal holds ${size(bytes)}, ${measure.value.toFixed(1)} times max_wal_size and wal_keep_size together`;
    if (measure.value < warning) return { faults: [], passMessage: `${line}.`, measures };
    const slot = textOrNone(row, 'slot');
    const holder = slot === undefined ? '' : `, and slot ${slot} keeps ${size(numberIn(row, 'kept'))} of it`;
    return {
      passMessage: `${line}.`,
      measures,
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: `${line}${holder}; find out what keeps it before the disk is full.`,
          remediation: `SELECT slot_name, active, restart_lsn, wal_status, archiver.last_failed_wal FROM pg_stat_archiver archiver LEFT JOIN pg_replication_slots ON wal_status IS DISTINCT FROM 'lost' ORDER BY restart_lsn; -- then let the consumer of the first slot catch up, or drop the slot if its consumer is gone for good; if a WAL file failed last, ${facts.provider ? `ask the support of ${PROVIDER_NAMES[facts.provider]}` : 'mend archive_command'}`,
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};
