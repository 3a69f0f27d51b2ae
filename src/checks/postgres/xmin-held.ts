import type { Check, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { counted, duration } from '../wording.ts';
import { atLeast, crosses, faultMeasure, listHighest, type Scale } from '../worst-measures.ts';
import { dumpSessions, isDump } from './backups.ts';
import { isOlder, LOCK_WAITS, ownTime } from './lock-waits.ts';
import { preparedSteps } from './prepared-xact-old.ts';
import { unseenSessions } from './session-check.ts';
import { slotSteps } from './slot-steps.ts';
import { ofThisServer } from './synced-slots.ts';

/**
 * Seconds if the server keeps a time; transactions if it keeps none: an active slot, a standby's feedback, any
 * slot before 17. Both are dbvitals' own values.
 */
const thresholds = { warning_seconds: 24 * 3600, warning_transactions: 10_000_000 };

// What holds back the horizon of vacuum, but for a backup, which PG_LONG_XACT names. An invalid slot holds back nothing. The object does not contain a
// transaction's name or pid.
const sql = (version: number): string => `
  with ${LOCK_WAITS}, ${dumpSessions()}, holder as (
    select 'session' as kind,
           concat_ws('/', quote_ident(datname), quote_ident(usename), quote_ident(application_name)) as name,
           max(${ownTime('xact_start')}) as seconds,
           max(greatest(age(backend_xmin), age(backend_xid)))::float8 as transactions,
           format('datname = %L AND usename = %L AND application_name = %L', datname, usename, application_name) as handle
      from pg_stat_activity s
     where backend_type = 'client backend'
       and not ${isDump('s')}
       and coalesce(backend_xmin, backend_xid) is not null
       and pid <> pg_backend_pid()
     group by datname, usename, application_name
    union all
    select 'prepared transaction',
           concat_ws('/', quote_ident(database), quote_ident(owner)),
           extract(epoch from clock_timestamp() - min(prepared))::float8,
           max(age(transaction))::float8,
           (array_agg(quote_literal(gid) order by prepared))[1]
      from pg_prepared_xacts
     group by database, owner
    union all
    select case when not active then 'slot' when slot_type = 'logical' then 'logical slot' else 'active slot' end,
           quote_ident(slot_name),
           ${version >= 170_000 ? 'case when not active then extract(epoch from clock_timestamp() - inactive_since) end' : 'null'}::float8,
           greatest(age(xmin), age(catalog_xmin))::float8,
           quote_literal(slot_name)
      from pg_replication_slots
     where coalesce(xmin, catalog_xmin) is not null
       and wal_status is distinct from 'lost'
       and ${ofThisServer(version)}
    union all
    select 'standby', quote_ident(application_name), null, max(age(backend_xmin))::float8, quote_literal(application_name)
      from pg_stat_replication
     where backend_xmin is not null
     group by application_name
  )
  select pg_has_role('pg_read_all_stats', 'usage') as sees_all,
         quote_ident(current_user) as me,
         holder.*
    from (select) one_row
    left join (
      select *
        from holder
       order by seconds desc nulls last, transactions desc
       limit ${FAULT_LIMIT + 1}
    ) holder on true`;

/** Sessions, transactions, slots and standbys that keep vacuum from removing dead rows. */
export const xminHeld: Check<typeof thresholds> = {
  id: 'PG_XMIN_HELD',
  title: 'Vacuum held back',
  category: 'vacuum',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  thresholds,
  sql,
  judge: (rows, facts) => {
    const { warning_seconds, warning_transactions } = facts.thresholds;
    const passMessage = 'Nothing has been holding vacuum back for long.';
    const first = onlyRow(rows.slice(0, 1));
    const unseen = unseenSessions(first);
    if (unseen) return unseen;
    const scales = [
      atLeast('vacuum_held_seconds', warning_seconds),
      atLeast('vacuum_held_transactions_count', warning_transactions),
    ] as const;
    const holders = rows
      .filter(({ kind }) => kind !== null)
      .map((row) => ({ row, measure: measure(row, scales) }));
    const held = holders.filter(({ measure }) => crosses(measure, measure.warning));
    const measures = holders.map(({ measure }) => measure);
    return {
      faults: held.slice(0, FAULT_LIMIT).map(({ row, measure }) => fault(row, measure, facts)),
      passMessage,
      measures: scales.flatMap((scale) =>
        listHighest(
          scale,
          measures.filter(({ metric }) => metric === scale.metric),
        ),
      ),
      truncated: rows.length > FAULT_LIMIT,
    };
  },
};

type Facts = ServerFacts<typeof thresholds>;

/** What a holder is compared by: its time if the server keeps one, else its transactions. */
function measure(row: Row, [time, count]: readonly [Scale, Scale]): Measure {
  const object = `${textIn(row, 'kind').replace(/^(?:active|logical) /, '')} ${textIn(row, 'name')}`;
  const { seconds } = row;
  return typeof seconds === 'number'
    ? { ...time, object, value: seconds }
    : { ...count, object, value: numberIn(row, 'transactions') };
}

function fault(row: Row, measure: Measure, facts: Facts): Fault {
  const kind = textIn(row, 'kind');
  const { object } = measure;
  const { seconds } = row;
  const time = typeof seconds === 'number' ? `${duration(seconds)} and ` : '';
  const [advice, remediation] = ending(kind, textOrNone(row, 'handle') ?? '', facts);
  return {
    severity: 'warning',
    object,
    metricLine: `Vacuum is held back by ${object}, for ${time}${counted(numberIn(row, 'transactions'), 'transaction')}; ${advice}.`,
    remediation,
    measured: faultMeasure(measure),
  };
}

function ending(kind: string, handle: string, facts: Facts): [string, string] {
  switch (kind) {
    case 'session':
      return [
        'end the transaction',
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${handle} AND ${isOlder('xact_start', facts.thresholds.warning_seconds, true)};`,
      ];
    case 'prepared transaction':
      return ['commit it or roll it back in its database', preparedSteps(handle)];
    case 'slot':
      return ['start its consumer, or drop it', slotSteps(handle.slice(1, -1))];
    case 'logical slot':
      return [
        'make its consumer confirm what it has received: end what it waits for, or restart it',
        `SELECT slot_name, plugin, database, active_pid, catalog_xmin, confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = ${handle}; -- then make its consumer confirm: end the transaction that it waits for; or, if it waits for none, restart it`,
      ];
    case 'active slot':
      return [
        'end the long query on its standby',
        `SELECT s.slot_name, r.application_name, r.client_addr, s.xmin FROM pg_replication_slots s JOIN pg_stat_replication r ON r.pid = s.active_pid WHERE s.slot_name = ${handle}; -- then ${ON_STANDBY}`,
      ];
    default:
      return [
        'end the long query on the standby',
        `SELECT application_name, client_addr, backend_xmin FROM pg_stat_replication WHERE application_name = ${handle}; -- then ${ON_STANDBY}`,
      ];
  }
}

/** Ends the transaction that holds back vacuum from a standby: the one with the oldest snapshot there. */
const ON_STANDBY =
  "on that standby: SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid() ORDER BY age(backend_xmin) DESC, xact_start LIMIT 1) oldest; or set hot_standby_feedback = off there: its queries may then be cancelled";
