import type { Check, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';

/** A worker that fails starts again every 5 s. So many errors since the last run are more than a publisher that restarts. */
const MANY_ERRORS = 3;

// A standby of a subscriber has its subscriptions, and applies none. A worker with a relation copies that table.
const sql = (version: number) => `
  select quote_ident(d.datname) as database_name,
         quote_ident(s.subname) as subscription,
         quote_literal(s.subname) as literal,
         s.subenabled as enabled,
         s.subslotname is null as lacks_slot,
         exists (select from pg_stat_subscription w
                  where w.subid = s.oid and w.pid is not null and w.relid is null) as working,
         counts.errors, counts.copy_errors
    from (select) one_row
    left join (pg_subscription s join pg_database d on d.oid = s.subdbid) on not pg_is_in_recovery()
    left join lateral (${version >= 150_000 ? 'select (apply_error_count + sync_error_count)::float8 as errors, sync_error_count::float8 as copy_errors from pg_stat_subscription_stats e where e.subid = s.oid' : 'select 0::float8 as errors, 0::float8 as copy_errors'}) counts on true
   order by s.subenabled, database_name, subscription
   limit ${FAULT_LIMIT + 1}`;

/** Subscriptions that apply nothing: their tables become stale, and their slots keep WAL on the publisher. */
export const subscriptionStopped: Check = {
  id: 'PG_SUBSCRIPTION_STOPPED',
  title: 'Subscription has stopped',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  comparesRuns: true,
  sql,
  judge: (all, { before }) => {
    onlyRow(all.slice(0, 1));
    const rows = all.filter(({ subscription }) => subscription !== null);
    const faults = rows.flatMap((row) => fault(row, before) ?? []);
    return {
      faults: faults.slice(0, FAULT_LIMIT),
      passMessage:
        rows.length === 0
          ? 'This server has no subscription.'
          : `${counted(rows.length, 'subscription')} at work.`,
      measures: rows.length === 0 ? [] : [countOf('stopped_subscriptions_count', faults.length)],
      truncated: rows.length > FAULT_LIMIT,
    };
  },
};

function fault(row: Row, before: ServerFacts['before']): Fault | null {
  const [database, name] = [textIn(row, 'database_name'), textIn(row, 'subscription')];
  const object = `${database}.${name}`;
  const errors = countIn(row, 'errors');
  const look = `SELECT * FROM pg_stat_subscription WHERE subname = ${textIn(row, 'literal')};`;
  if (row['enabled'] !== true) {
    // A subscription that was dumped, or that is about to be dropped, may have no slot, and can't be enabled without one.
    const slot =
      row['lacks_slot'] === true
        ? `it has no slot: look in pg_replication_slots of the publisher for the one that it had, and name it first (ALTER SUBSCRIPTION ${name} SET (slot_name = …)); without one, drop the subscription and make it anew. Then, `
        : '';
    return {
      severity: errors > 0 ? 'critical' : 'warning',
      object,
      metricLine: `Subscription ${name} of database ${database} is disabled${errors > 0 ? ` after ${counted(errors, 'error')}` : ''}, so its tables become stale; enable it, or drop it.`,
      remediation: `${look} -- then find out why it was disabled${errors > 0 ? ' (the log has the error)' : ''}; ${slot}connected to database ${database}, run ALTER SUBSCRIPTION ${name} ENABLE;`,
    };
  }
  const last = before?.rows.find(
    ({ database_name, subscription }) =>
      database_name === row['database_name'] && subscription === row['subscription'],
  );
  const grown = (count: string) => (last ? countIn(row, count) - countIn(last, count) : 0);
  const [more, copyErrors] = [grown('errors'), grown('copy_errors')];
  if (row['working'] === true && more < MANY_ERRORS) return null;
  if (row['working'] === true && more - copyErrors < MANY_ERRORS) {
    return {
      severity: 'critical',
      object,
      metricLine: `Subscription ${name} of database ${database} can't copy a table: ${counted(copyErrors, 'error')} since the last run; the log says why.`,
      remediation: `SELECT srrelid::regclass, srsubstate FROM pg_subscription_rel WHERE srsubstate <> 'r'; -- connected to database ${database}: it shows the tables that are not copied yet. Then read the log of this server: a row is there already, or a column is missing. Correct that; the copy starts again by itself`,
    };
  }
  const how = more > 0 ? `: ${counted(more, 'error')} since the last run` : '';
  return {
    severity: 'critical',
    object,
    metricLine: `Subscription ${name} of database ${database} applies nothing${how}; the log says why its worker ends.`,
    remediation: `${look} -- then read the log of this server: the publisher or its slot is gone, a table or column is missing here, or a row is there already. Correct that; the worker starts again by itself`,
  };
}

/** Before 15, and of what was never counted, 0. */
function countIn(row: Row, count: string): number {
  return typeof row[count] === 'number' ? row[count] : 0;
}
