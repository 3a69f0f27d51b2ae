// A setting is stored as it was written.
const OFF = ['off', 'of', 'false', 'fals', 'fal', 'fa', 'f', 'no', 'n', '0'];

const stored = (name: string, role: string) => `
      from pg_db_role_setting s, unnest(s.setconfig) each
     where s.setrole = ${role}
       and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
       and split_part(each, '=', 1) = '${name}'`;

/** Rows: the values of a setting that its role or database gives the monitor's session, and so hide the server's. */
export const hidingTheServers = (name: string): string => `
    select each${stored(name, `any (array[0::oid, (select oid from pg_roles where rolname = session_user)])`)}`;

const sees = (process: string) => `count(*) filter (where backend_type = '${process}') > 0`;

/**
 * A row: whether the server is to run autovacuum's launcher (`runs_one`; never on a standby), whether the login sees the server's
 * processes, and whether it sees a launcher. That has the server's settings, and ends when one of the two is off.
 */
export const AUTOVACUUM_LAUNCHER = `
    select current_setting('autovacuum') = 'on' and not pg_is_in_recovery() as runs_one,
           ${sees('checkpointer')} as sees_processes,
           ${sees('autovacuum launcher')} as launched
      from pg_stat_activity`;

const LACKS_LAUNCHER = `(select runs_one and sees_processes and not launched from (${AUTOVACUUM_LAUNCHER}) launcher)`;

/**
 * Condition: a setting has one of these values in the sessions of others. One that was set for the monitor's own role says nothing of
 * them, and hides the server's: then what was set for the database, or for all roles, decides, and then `otherwise`.
 */
function isSetTo(name: string, values: readonly string[], otherwise = 'false'): string {
  const list = values.map((value) => `'${value}'`).join(', ');
  return `coalesce(
    case when exists (select${stored(name, '(select oid from pg_roles where rolname = session_user)')})
         then (select lower(split_part(each, '=', 2)) in (${list})${stored(name, '0')}
                order by s.setdatabase desc limit 1)
         else current_setting('${name}', true) in (${list}) end, ${otherwise})`;
}

/** Condition: a setting is off, and not only for the monitor's own role. False if the server does not know it, or if that is not known. */
export const isOff = (name: string): string =>
  isSetTo(name, OFF, name === 'track_counts' ? LACKS_LAUNCHER : 'false');

/** Condition: pg_stat_statements counts no statement, and not only none of the monitor's own role. */
export const COUNTS_NO_STATEMENT = isSetTo('pg_stat_statements.track', ['none']);
