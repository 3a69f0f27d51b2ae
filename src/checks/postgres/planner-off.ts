import type { Check, ServerFacts } from '../check.ts';
import { textIn, textOrNone } from '../columns.ts';
import type { Row } from '../fault.ts';
import { countOf } from '../worst-measures.ts';
import { alterSystem } from './alter-system.ts';

// Settings that are on by default. The monitor's session may have them from its role or database, so the server's are
// those with another source; those of roles and databases come from pg_db_role_setting.
const sql = `
  select name, null as database, null as role, false as of_all_roles
    from pg_settings
   where name ~ '^enable_' and boot_val = 'on' and setting = 'off'
     and source not in ('database', 'user', 'database user', 'client', 'session')
  union all
  select s.name, quote_ident(d.datname), quote_ident(r.rolname), own.setdatabase = 0 and own.setrole = 0
    from pg_db_role_setting own
    left join pg_database d on d.oid = own.setdatabase
    left join pg_roles r on r.oid = own.setrole
    cross join unnest(own.setconfig) as config
    join pg_settings s on s.name = split_part(config, '=', 1)
   where s.name ~ '^enable_' and s.boot_val = 'on'
     and case when s.name ~ '^enable_' then not split_part(config, '=', 2)::bool end
   order by name, database nulls first, role nulls first`;

/** Kinds of plan that a setting forbids: meant for one query, it changes all others. */
export const plannerOff: Check = {
  id: 'PG_PLANNER_OFF',
  title: 'Planner setting is off',
  category: 'configuration',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows, server) => ({
    passMessage: 'The planner may use every kind of plan.',
    measures: [countOf('planner_settings_off_count', rows.length)],
    faults: rows.map((row) => {
      const name = textIn(row, 'name');
      const { whose, remediation } = settingOf(row, name, server);
      return {
        severity: 'info',
        object: `${name}${whose}`,
        metricLine: `${name}${whose} is off: the planner avoids that kind of plan in every query, not just in the one it was meant for; reset it.`,
        remediation,
      };
    }),
  }),
};

function settingOf(row: Row, name: string, server: ServerFacts): { whose: string; remediation: string } {
  const database = textOrNone(row, 'database');
  const role = textOrNone(row, 'role');
  if (role !== undefined && database !== undefined) {
    return {
      whose: ` of role ${role} in database ${database}`,
      remediation: `ALTER ROLE ${role} IN DATABASE ${database} RESET ${name};`,
    };
  }
  if (role !== undefined)
    return { whose: ` of role ${role}`, remediation: `ALTER ROLE ${role} RESET ${name};` };
  if (database !== undefined) {
    return { whose: ` of database ${database}`, remediation: `ALTER DATABASE ${database} RESET ${name};` };
  }
  if (row['of_all_roles'] === true)
    return { whose: ' of all roles', remediation: `ALTER ROLE ALL RESET ${name};` };
  // SET rather than RESET, which would not help if postgresql.conf itself says off.
  return { whose: '', remediation: alterSystem(server, { name, value: 'on' }) };
}
