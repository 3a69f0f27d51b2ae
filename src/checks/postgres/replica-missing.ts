import type { Check } from '../check.ts';
import { numberIn, onlyRow } from '../columns.ts';
import { counted, grouped } from '../wording.ts';
import { atMost, faultMeasure } from '../worst-measures.ts';
import { sight, unseenStandbys } from './unseen-standbys.ts';

// A standby replays; base backups and pg_receivewal do not. WAL senders on logical slots serve subscribers.
const sql = `
  select ${sight},
         (select count(*)::int
            from pg_stat_replication
           where state in ('streaming', 'catchup')
             and replay_lsn is not null
             and pid not in (select active_pid
                               from pg_replication_slots
                              where slot_type = 'logical' and active_pid is not null)) as standbys`;

/** Fewer standbys are connected than the connection expects. */
export const replicaMissing: Check = {
  id: 'PG_REPLICA_MISSING',
  title: 'Standby missing',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  sql: () => sql,
  judge: (rows, { expectedStandbys = 0 }) => {
    const row = onlyRow(rows);
    if (expectedStandbys === 0) {
      return {
        faults: [],
        measures: [],
        passMessage: 'No standby is expected; connection change --expected-standbys changes that.',
      };
    }
    const unseen = unseenStandbys(row);
    if (unseen) return unseen;

    const standbys = numberIn(row, 'standbys');
    const passMessage = `${counted(standbys, 'standby', 'standbys')} of ${grouped(expectedStandbys)} expected ${standbys === 1 ? 'is' : 'are'} connected.`;
    const scale = atMost('connected_standbys_count', null, expectedStandbys - 1);
    const measure = { ...scale, object: null, value: standbys };
    const measures = [measure];
    if (standbys >= expectedStandbys) return { faults: [], passMessage, measures };
    return {
      passMessage,
      measures,
      faults: [
        {
          severity: 'critical',
          object: null,
          metricLine: `${grouped(standbys)} of ${counted(expectedStandbys, 'expected standby', 'expected standbys')} ${standbys === 1 ? 'is' : 'are'} connected; start the missing one again.`,
          remediation: `SELECT application_name, client_addr, state FROM pg_stat_replication; -- lists the connected standbys: start the missing one, and read its log`,
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};
