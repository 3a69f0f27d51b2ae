// A setting is stored as it was written.
const OFF = ['off', 'of', 'false', 'fals', 'fal', 'fa', 'f', 'no', 'n', '0'];

const stored = (name: string, role: string) => `
      from pg_db_role_setting s, unnest(s.setconfig) each
     where s.setrole = ${role}
       and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
       and split_part(each, '=', 1) = '${name}'`;

/**
 * Condition: a setting has one of these values in the sessions of others. One that was set for the monitor's own role says nothing of
 * them, and hides the server's: then what was set for the database, or for all roles, decides. False if that is not known.
 */
function isSetTo(name: string, values: readonly string[]): string {
  const list = values.map((value) => `'${value}'`).join(', ');
  return `coalesce(
    case when exists (select${stored(name, '(select oid from pg_roles where rolname = session_user)')})
         then (select lower(split_part(each, '=', 2)) in (${list})${stored(name, '0')}
                order by s.setdatabase desc limit 1)
         else current_setting('${name}', true) in (${list}) end, false)`;
}

/** Condition: a setting is off, and not only for the monitor's own role. False if the server does not know it. */
export const isOff = (name: string): string => isSetTo(name, OFF);

/** Condition: pg_stat_statements counts no statement, and not only none of the monitor's own role. */
export const COUNTS_NO_STATEMENT = isSetTo('pg_stat_statements.track', ['none']);
