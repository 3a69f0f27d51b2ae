import { numberIn, textIn, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { counted, duration } from '../wording.ts';
import { BACKUP_COLUMNS, backupIn, LET_BACKUP_END } from './backups.ts';
import { killBlockers } from './lock-waits.ts';
import { conflicts } from './metadata-locks.ts';
import { innodbNow, WAITS, waitsForMetadata, waitsForTable, waitsForUser } from './own-time.ts';
import { quoted } from './quote.ts';
import {
  END_PREPARED,
  PROCESS_AND_LOCKS,
  SESSION_LIMIT,
  SESSIONLESS,
  sessionCheck,
  transactions,
  who,
} from './session-check.ts';

/** How metadata_locks names a lock of GET_LOCK. Its name is a value of the application, so it is not read. */
const USER_LOCK = 'USER LEVEL LOCK';

const waiters = `
  select concat(coalesce(db, ''), '/', user) as object,
         user as user_name,
         db as db_name,
         id as thread,
         ${waitsForUser('state')} as is_user_lock,
         ${waitsForTable('state')} as is_table_lock,
         time as age
    from information_schema.processlist
   where ${waitsForMetadata('state')}
   order by time desc
   limit ${SESSION_LIMIT + 1}`;

const HOLDER_COLUMNS = `
         concat(coalesce(ht.processlist_db, ''), '/', ht.processlist_user) as holder,
         (select count(*)
            from information_schema.innodb_trx
           where trx_mysql_thread_id = ht.processlist_id and trx_wait_started is not null) as waits_itself,
         ${BACKUP_COLUMNS}`;

// Sessions that hold what another requests and are not waiting themselves. No row if this is not instrumented.
const holders = `
  select distinct wt.processlist_id as waiting_thread,
         wanted.object_schema as wanted_schema,
         if(wanted.object_type = '${USER_LOCK}', null, wanted.object_name) as wanted_name,
         wanted.object_type = '${USER_LOCK}' as is_user_lock,
         held.lock_type as held_kind,
         ${conflicts('wanted', 'held')} as is_cause,${HOLDER_COLUMNS}
    from performance_schema.metadata_locks wanted
    join performance_schema.metadata_locks held
      on held.object_type = wanted.object_type
     and held.object_schema <=> wanted.object_schema
     and held.object_name <=> wanted.object_name
     and held.owner_thread_id <> wanted.owner_thread_id
    join performance_schema.threads wt on wt.thread_id = wanted.owner_thread_id
    join performance_schema.threads ht on ht.thread_id = held.owner_thread_id
    left join information_schema.processlist p on p.id = ht.processlist_id
   where wanted.lock_status = 'PENDING'
     and held.lock_status = 'GRANTED'
     and ht.processlist_id is not null
     and held.owner_thread_id not in (
           select owner_thread_id from performance_schema.metadata_locks where lock_status = 'PENDING')
   limit ${SESSION_LIMIT}`;

// The same of tables without row locks: a session that waits for one has a handle of it too.
const tableHolders = `
  select distinct wt.processlist_id as waiting_thread,
         wanted.object_schema as wanted_schema,
         wanted.object_name as wanted_name,
         1 as is_table_lock,${HOLDER_COLUMNS}
    from performance_schema.threads wt
    join performance_schema.table_handles wanted on wanted.owner_thread_id = wt.thread_id
    join performance_schema.table_handles held
      on held.object_schema = wanted.object_schema
     and held.object_name = wanted.object_name
     and held.owner_thread_id <> wanted.owner_thread_id
    join performance_schema.threads ht on ht.thread_id = held.owner_thread_id
    left join information_schema.processlist p on p.id = ht.processlist_id
   where ${waitsForTable('wt.processlist_state')}
     and wanted.internal_lock is not null
     and held.internal_lock is not null
     and ht.processlist_id is not null
     and not ${waitsForTable('ht.processlist_state')}
   limit ${SESSION_LIMIT}`;

// If the holder is not known: the oldest transaction that does not wait for such a lock is the likeliest. One that was prepared
// by XA keeps its locks without a session, and MySQL's table of locks does not name it.
const likeliest = `
  select case when trx_mysql_thread_id = 0 then '${SESSIONLESS}' else concat(coalesce(db, ''), '/', user) end as oldest,
         timestampdiff(microsecond, trx_started, ${innodbNow}) / 1e6 as oldest_age,
         ${BACKUP_COLUMNS}
    from information_schema.innodb_trx
    left join information_schema.processlist p on id = trx_mysql_thread_id
   where trx_wait_started is null
     and (trx_mysql_thread_id = 0 or id <> connection_id() and not ${waitsForMetadata('state')})
   order by trx_started
   limit 1`;

/** Sessions that have been waiting for a metadata lock: an ALTER TABLE, or those behind it; or for another session in GET_LOCK. */
export const mdlWait = sessionCheck({
  id: 'MY_MDL_WAIT',
  title: 'Session waits for a metadata lock',
  category: 'locks',
  thresholds: { warning_seconds: 30, critical_seconds: 120 },
  privilege: PROCESS_AND_LOCKS,
  sql: () => [transactions, waiters, holders, tableHolders, likeliest],
  fault: (sessions, { version }, rows) => {
    const [oldest = {}] = sessions;
    const threads = new Set(sessions.map(({ thread }) => thread));
    const holding = rows.filter((row) => 'waiting_thread' in row && threads.has(row['waiting_thread']));
    const known = onlyCauses(holding);
    const waits = `${who(oldest)}: ${counted(sessions.length, 'session')} waiting for ${kindOf(sessions)}, the longest for ${duration(numberIn(oldest, 'age'))}`;
    return known.length === 0
      ? isUserLock(oldest)
        ? { metricLine: `${waits}; ${UNKNOWN_USER}`, remediation: ASK_FOR_USER }
        : isTableLock(oldest)
          ? unknownHolder(waits)
          : guessed(waits, numberIn(oldest, 'age'), rows)
      : held(waits, known, { rows, version, from: heldBy(known, holding) });
  },
  passMessage: 'No session has been waiting for a metadata lock for long.',
  metric: 'longest_metadata_lock_wait_seconds',
  countMetric: 'long_metadata_lock_waits_count',
});

const isUserLock = (row: Row) => Number(row['is_user_lock'] ?? 0) === 1;
const isTableLock = (row: Row) => Number(row['is_table_lock'] ?? 0) === 1;

/** Of the holders of what a session waits for, those with which it conflicts, or all if there are none: then it waits behind one that waits itself. */
function onlyCauses(known: readonly Row[]): Row[] {
  const isCause = (row: Row) => Number(row['is_cause'] ?? 1) === 1;
  const groups = Map.groupBy(known, (row) => row['waiting_thread']);
  return [...groups.values()].flatMap((holders) =>
    holders.some(isCause) ? holders.filter(isCause) : holders,
  );
}

/** What sessions wait for. */
function kindOf(sessions: readonly Row[]): string {
  if (sessions.every(isUserLock)) return 'a user lock (GET_LOCK)';
  if (sessions.every(isTableLock)) return 'a table of an engine without row locks';
  return sessions.some(isUserLock) ? 'a metadata lock or a user lock (GET_LOCK)' : 'a metadata lock';
}

const UNKNOWN_USER = 'the server does not show who holds it: ask it with the name of the lock.';

const ASK_FOR_USER =
  "SELECT id, user, db, info FROM information_schema.processlist WHERE state = 'User lock'; -- then SELECT IS_USED_LOCK(…) with the name that GET_LOCK has there: it gives the id of the session that holds the lock";

const TABLE_HELD_BY = `performance_schema.threads JOIN performance_schema.table_handles held ON thread_id = held.owner_thread_id JOIN performance_schema.table_handles wanted ON wanted.object_schema = held.object_schema AND wanted.object_name = held.object_name WHERE held.internal_lock IS NOT NULL AND wanted.internal_lock IS NOT NULL AND NOT ${waitsForTable('processlist_state')} AND wanted.owner_thread_id IN (SELECT thread_id FROM performance_schema.threads WHERE ${waitsForTable('processlist_state')})`;

const HELD_BY =
  "performance_schema.metadata_locks wanted JOIN performance_schema.metadata_locks held ON held.object_type = wanted.object_type AND held.object_schema <=> wanted.object_schema AND held.object_name <=> wanted.object_name JOIN performance_schema.threads ON thread_id = held.owner_thread_id WHERE wanted.lock_status = 'PENDING' AND held.lock_status = 'GRANTED' AND held.owner_thread_id NOT IN (SELECT owner_thread_id FROM performance_schema.metadata_locks WHERE lock_status = 'PENDING') AND processlist_id NOT IN (SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_wait_started IS NOT NULL)";

type Advice = Pick<Fault, 'metricLine' | 'remediation'>;

/** What to select the holders from; if there are others whose locks are in nobody's way, without these. */
function heldBy(known: readonly Row[], holding: readonly Row[]): string {
  if (isTableLock(known[0] ?? {})) return TABLE_HELD_BY;
  if (known.length === holding.length) return HELD_BY;
  const kinds = new Set(known.map((row) => `'${textIn(row, 'held_kind').replace(/[^A-Z_]/g, '')}'`));
  return `${HELD_BY} AND held.lock_type IN (${[...kinds].join(', ')})`;
}

/** The message if the server shows who holds the lock. A holder that waits for a row lock is a victim itself. */
function held(
  waits: string,
  known: Row[],
  { rows, version, from }: { rows: Row[]; version: number; from: string },
): Advice {
  const [first = {}] = known;
  const name = [textOrNone(first, 'wanted_schema'), textOrNone(first, 'wanted_name')];
  const table = quoted(...name.filter((part) => part !== undefined));
  const on = table === '' ? '' : ` on ${table}`;
  const sameKind = known.filter(
    (row) => isUserLock(row) === isUserLock(first) && isTableLock(row) === isTableLock(first),
  );
  const causes = sameKind.filter((row) => Number(row['waits_itself'] ?? 0) === 0);
  const holders = (causes.length > 0 ? causes : sameKind).map((row) => textIn(row, 'holder'));
  const by = [...new Set(holders)].slice(0, 3).join(', ');
  if (causes.length === 0) {
    return {
      metricLine: `${waits}; ${by} holds it${on}, and waits itself for a row lock: end the session that holds that.`,
      remediation: killBlockers(version),
    };
  }
  const backup = causes.map((row) => backupIn(rows, row['thread'], row['dumps'])).find((name) => name);
  if (backup !== undefined) {
    return {
      metricLine: `${waits}; ${by} holds it${on}, which is ${backup}: let it end, or cancel what waits for it.`,
      remediation: `SELECT DISTINCT processlist_id, processlist_user, processlist_db, processlist_state FROM ${from}; ${LET_BACKUP_END}`,
    };
  }
  return {
    metricLine: `${waits}; ${by} holds it${on}: ${sayHowToEnd(first)}.`,
    remediation: `SELECT DISTINCT concat('KILL ', processlist_id, ';') AS statement, processlist_user, processlist_db FROM ${from}; -- run what it prints`,
  };
}

/** How to end a holder, by what it holds. */
function sayHowToEnd(row: Row): string {
  if (isUserLock(row)) return 'it must call RELEASE_LOCK; else end its session';
  return isTableLock(row)
    ? 'let its statement end, or end that; a table with ENGINE=InnoDB has no such waits'
    : 'end that transaction';
}

function unknownHolder(waits: string): Advice {
  return {
    metricLine: `${waits}; the server does not show who holds it: look for a long query, a backup or LOCK TABLES.`,
    remediation: 'SHOW FULL PROCESSLIST; -- KILL the session that has used the table for longer than that',
  };
}

/** The message if the server does not show the holder of the lock: a transaction older than the wait may hold it. */
function guessed(waits: string, age: number, rows: Row[]): Advice {
  const oldest = rows.find((row) => 'oldest' in row && numberIn(row, 'oldest_age') >= age);
  if (!oldest) return unknownHolder(waits);
  const since = duration(numberIn(oldest, 'oldest_age'));
  if (oldest['oldest'] === SESSIONLESS) {
    return {
      metricLine: `${waits}; the server does not show who holds it, most likely a transaction without a session, open for ${since}; if it is a prepared XA transaction, commit it or roll it back.`,
      remediation: END_PREPARED,
    };
  }
  const likely = `${waits}; the server does not show who holds it, most likely the oldest transaction, of ${textIn(oldest, 'oldest')}, open for ${since}`;
  const oldestFirst = `FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE trx_wait_started IS NULL AND NOT coalesce(${WAITS}, false) AND id <> connection_id() ORDER BY trx_started`;
  const backup = backupIn(rows, oldest['thread'], oldest['dumps']);
  if (backup !== undefined) {
    return {
      metricLine: `${likely}, which is ${backup}: let it end, or cancel what waits for it.`,
      remediation: `SELECT id, user, db, state, trx_started ${oldestFirst}; ${LET_BACKUP_END}`,
    };
  }
  return {
    metricLine: `${likely}: end it.`,
    remediation: `SELECT concat('KILL ', id, ';') AS statement, user, db, trx_started ${oldestFirst}; -- run the first that it prints`,
  };
}
