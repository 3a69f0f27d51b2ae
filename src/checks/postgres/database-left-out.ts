import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { onlyRow, textIn } from '../columns.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';

/** The finding's line has 500 characters. */
const NAMED = 5;

/** Databases that providers keep to themselves. */
const ofProviders = ['rdsadmin', 'cloudsqladmin', 'azure_maintenance', 'azure_sys', 'alloydbadmin'];

// Only a superuser passes a limit of 0: such a database is closed on purpose, and none that is full.
const ADMITS_LOGIN = `has_database_privilege(oid, 'connect')
     and (datconnlimit <> 0 or (select rolsuper from pg_roles where rolname = current_user))`;

/** Condition: databases (rows of pg_database) that a run connects to, and measures. */
export const MEASURED_DATABASE = `datallowconn and not datistemplate and datconnlimit <> -2 and ${ADMITS_LOGIN}`;

/** Condition: a database (a row of pg_database) is not one that a provider keeps to itself. */
export const IS_OF_USERS = `datname not in (${ofProviders.map((name) => `'${name}'`).join(', ')})`;

const sql = `
  select quote_ident(datname) as database, quote_literal(current_user) as me
    from (select) one_row
    left join pg_database
      on datallowconn and not datistemplate and datconnlimit <> -2
     and ${IS_OF_USERS}
     and not (${ADMITS_LOGIN})
   order by datname
   limit ${FAULT_LIMIT + 1}`;

/** Databases that the login may not connect to: nothing in them is measured. */
export const databaseLeftOut: Check = {
  id: 'PG_DATABASE_LEFT_OUT',
  title: 'Database not measured',
  category: 'configuration',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows) => {
    const me = textIn(onlyRow(rows.slice(0, 1)), 'me');
    const names = rows.filter(({ database }) => database !== null).map((row) => textIn(row, 'database'));
    const measures = [countOf('databases_left_out_count', names.length)];
    const passMessage = 'The login may connect to every database.';
    if (names.length === 0) return { faults: [], passMessage, measures };
    const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
    return {
      passMessage,
      measures,
      faults: [
        {
          severity: 'info',
          object: null,
          metricLine: `The login may not connect to ${counted(names.length, 'database')}, so nothing there is measured: ${names.slice(0, NAMED).join(', ')}${more}.`,
          remediation: `SELECT datname, datconnlimit FROM pg_database WHERE datallowconn AND (datconnlimit = 0 OR NOT has_database_privilege(${me}, oid, 'connect')); -- then, for each of them that is to be measured, run GRANT CONNECT, or raise a CONNECTION LIMIT of 0`,
        },
      ],
    };
  },
};
