import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { counted, size } from '../wording.ts';
import { atLeast, faultMeasure, worstOf } from '../worst-measures.ts';
import { isNoBackup } from './backups.ts';
import { sight, unseenStandbys } from './unseen-standbys.ts';

/** Bytes of WAL that a standby has not replayed yet; dbvitals' own. */
const thresholds = { warning_bytes: 100 * 1024 ** 2, critical_bytes: 1024 ** 3 };

// A base backup is not a standby. pg_receivewal replays nothing, so its flushed position counts.
const sql = `
  select ${sight},
         standby.*
    from (select) one_row
    left join (
      select quote_ident(application_name) || coalesce('/' || host(client_addr), '') as standby,
             max(pg_wal_lsn_diff(now.lsn, coalesce(replay_lsn, flush_lsn, write_lsn, sent_lsn)))::float8 as lag
        from pg_stat_replication r
        cross join (
          select case when pg_is_in_recovery() then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                      else pg_current_wal_lsn()
                  end as lsn
        ) now
       where state in ('streaming', 'catchup')
         and ${isNoBackup('r')}
       group by 1
       order by lag desc nulls last
       limit ${FAULT_LIMIT + 1}
    ) standby on true`;

/** Standbys (and subscribers) that are far behind: after a failover the rest is lost, or must be replayed first. */
export const replicationLag: Check<typeof thresholds> = {
  id: 'PG_REPLICATION_LAG',
  title: 'Standby lags behind',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { warning_bytes, critical_bytes } = facts.thresholds;
    const unseen = unseenStandbys(onlyRow(rows.slice(0, 1)));
    if (unseen) return unseen;

    const scale = atLeast('replication_lag_bytes', warning_bytes, critical_bytes);
    const measure = (row: Row) => ({ ...scale, object: textIn(row, 'standby'), value: numberIn(row, 'lag') });
    const standbys = rows.filter(({ lag }) => typeof lag === 'number');
    const late = standbys.filter((row) => numberIn(row, 'lag') >= warning_bytes);
    const near = standbys.filter((row) => numberIn(row, 'lag') >= 0.9 * warning_bytes && !late.includes(row));
    const [worst] = standbys;
    return {
      faults: late.slice(0, FAULT_LIMIT).map((row): Fault => {
        const [standby, lag] = [textIn(row, 'standby'), numberIn(row, 'lag')];
        return {
          severity: lag >= critical_bytes ? 'critical' : 'warning',
          object: standby,
          metricLine: `Standby ${standby} is ${size(lag)} of WAL behind; check its network and its disk, and whether its replay is paused.`,
          remediation: `SELECT application_name, client_addr, state, sent_lsn, flush_lsn, replay_lsn FROM pg_stat_replication; -- a gap from sent to flush: the network or its disk; from flush to replay: a long query there, or a pause`,
          measured: faultMeasure(measure(row)),
        };
      }),
      passMessage: worst
        ? `${counted(standbys.length, 'standby', 'standbys')}, at most ${size(numberIn(worst, 'lag'))} behind.`
        : 'No standby is connected.',
      measures: worstOf(standbys.map(measure)),
      near: near.map((row) => textIn(row, 'standby')),
      truncated: late.length > FAULT_LIMIT,
    };
  },
};
