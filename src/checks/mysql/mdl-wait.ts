import type { Row } from '../check.ts';
import { numberIn, textIn, textOrNone } from '../columns.ts';
import { counted, duration } from '../wording.ts';
import { quoted } from './quote.ts';
import {
  innodbNow,
  PROCESS_AND_LOCKS,
  SESSION_LIMIT,
  sessionCheck,
  transactions,
  who,
} from './session-check.ts';

const waiting = `(state like 'Waiting for % metadata lock' or state in ('Waiting for table flush', 'Waiting for global read lock', 'Waiting for backup lock', 'Waiting for commit lock'))`;

const waiters = `
  select concat(coalesce(db, ''), '/', user) as object,
         user as user_name,
         db as db_name,
         id as thread,
         time as age
    from information_schema.processlist
   where ${waiting}
   order by time desc
   limit ${SESSION_LIMIT + 1}`;

// Sessions that hold what another requests and are not waiting themselves. No row if this is not instrumented.
const holders = `
  select distinct wt.processlist_id as waiting_thread,
         wanted.object_schema as wanted_schema,
         wanted.object_name as wanted_name,
         concat(coalesce(ht.processlist_db, ''), '/', ht.processlist_user) as holder
    from performance_schema.metadata_locks wanted
    join performance_schema.metadata_locks held
      on held.object_type = wanted.object_type
     and held.object_schema <=> wanted.object_schema
     and held.object_name <=> wanted.object_name
     and held.owner_thread_id <> wanted.owner_thread_id
    join performance_schema.threads wt on wt.thread_id = wanted.owner_thread_id
    join performance_schema.threads ht on ht.thread_id = held.owner_thread_id
   where wanted.lock_status = 'PENDING'
     and held.lock_status = 'GRANTED'
     and ht.processlist_id is not null
     and held.owner_thread_id not in (
           select owner_thread_id from performance_schema.metadata_locks where lock_status = 'PENDING')
   limit ${SESSION_LIMIT}`;

// If the holder is not known: the oldest transaction that does not wait for such a lock is the likeliest.
const likeliest = `
  select concat(coalesce(db, ''), '/', user) as oldest,
         timestampdiff(microsecond, trx_started, ${innodbNow}) / 1e6 as oldest_age
    from information_schema.innodb_trx
    join information_schema.processlist on id = trx_mysql_thread_id
   where not coalesce(${waiting}, false)
     and id <> connection_id()
   order by trx_started
   limit 1`;

/** Sessions that have been waiting for a metadata lock: an ALTER TABLE, or those behind it. */
export const mdlWait = sessionCheck({
  id: 'MY_MDL_WAIT',
  title: 'Session waits for a metadata lock',
  category: 'locks',
  thresholds: { warning_seconds: 60, critical_seconds: 300 },
  privilege: PROCESS_AND_LOCKS,
  sql: () => [transactions, waiters, holders, likeliest],
  fault: (sessions, _facts, rows) => {
    const [oldest = {}] = sessions;
    const threads = new Set(sessions.map(({ thread }) => thread));
    const known = rows.filter((row) => 'waiting_thread' in row && threads.has(row['waiting_thread']));
    const waits = `${who(oldest)}: ${counted(sessions.length, 'session')} waiting for a metadata lock, the longest for ${duration(numberIn(oldest, 'age'))}`;
    const [first] = known;
    if (!first) return guessed(waits, numberIn(oldest, 'age'), rows);
    const name = [textOrNone(first, 'wanted_schema'), textOrNone(first, 'wanted_name')];
    const what = quoted(...name.filter((part) => part !== undefined));
    const by = [...new Set(known.map((row) => textIn(row, 'holder')))].slice(0, 3).join(', ');
    return {
      metricLine: `${waits}; ${by} holds it${what === '' ? '' : ` on ${what}`}: end that transaction.`,
      remediation: KILL_HOLDERS,
    };
  },
  passMessage: 'No session has been waiting for a metadata lock for long.',
  metric: 'longest_metadata_lock_wait_seconds',
  countMetric: 'long_metadata_lock_waits_count',
});

const KILL_HOLDERS = `SELECT DISTINCT concat('KILL ', processlist_id, ';') AS statement, processlist_user, processlist_db FROM performance_schema.metadata_locks wanted JOIN performance_schema.metadata_locks held ON held.object_type = wanted.object_type AND held.object_schema <=> wanted.object_schema AND held.object_name <=> wanted.object_name JOIN performance_schema.threads ON thread_id = held.owner_thread_id WHERE wanted.lock_status = 'PENDING' AND held.lock_status = 'GRANTED' AND held.owner_thread_id NOT IN (SELECT owner_thread_id FROM performance_schema.metadata_locks WHERE lock_status = 'PENDING'); -- run what it prints`;

/** The message if the server does not show the holder of the lock: a transaction older than the wait may hold it. */
function guessed(waits: string, age: number, rows: Row[]) {
  const oldest = rows.find((row) => 'oldest' in row && numberIn(row, 'oldest_age') >= age);
  if (!oldest) {
    return {
      metricLine: `${waits}; the server does not show who holds it: look for a long query, a backup or LOCK TABLES.`,
      remediation: 'SHOW FULL PROCESSLIST; -- KILL the session that has used the table for longer than that',
    };
  }
  const since = duration(numberIn(oldest, 'oldest_age'));
  return {
    metricLine: `${waits}; the server does not show who holds it, most likely the oldest transaction, of ${textIn(oldest, 'oldest')}, open for ${since}: end it.`,
    remediation: `SELECT concat('KILL ', id, ';') AS statement, user, db, trx_started FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE coalesce(state, '') NOT LIKE 'Waiting for %' AND id <> connection_id() ORDER BY trx_started; -- run the first that it prints`,
  };
}
