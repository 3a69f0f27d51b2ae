import { numberIn, textIn, textOrNone } from '../columns.ts';
import type { Row } from '../fault.ts';
import { size } from '../wording.ts';
import { HAS_STANDBYS } from './backups.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         c.relpages::float8 * current_setting('block_size')::float8 as bytes,
         ${HAS_STANDBYS} as standbys,
         (select string_agg(distinct format('%I.%I', rn.nspname, r.relname), ', ')
            from pg_constraint k
            join pg_class r on r.oid = k.confrelid
            join pg_namespace rn on rn.oid = r.relnamespace
           where k.conrelid = c.oid and k.contype = 'f' and r.relpersistence = 'u' and r.oid <> c.oid) as needed_first,
         quote_literal(format('%I.%I', n.nspname, c.relname)) as literal,
         count(*) over ()::float8 as total, null as unseen
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where c.relkind = 'r'
     and c.relpersistence = 'u'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and ${notOfExtension('c.oid', 'n.oid')}
   order by c.relpages desc, table_name`;

/** Tables that a crash empties and that standbys do not have. */
export const unloggedTable = relationCheck({
  id: 'PG_UNLOGGED_TABLE',
  title: 'Unlogged table',
  category: 'schema',
  maxSeverity: 'warning',
  among: 'unlogged_tables',
  candidates: () => candidates,
  countMetric: 'unlogged_tables_count',
  fault: (row, { expectedStandbys = 0 }) => {
    const standbys = row['standbys'] === true || expectedStandbys > 0;
    const table = textIn(row, 'table_name');
    return {
      severity: standbys ? 'warning' : 'info',
      object: table,
      metricLine: `table ${table} (${size(numberIn(row, 'bytes'))}) is unlogged: a crash empties it, and ${standbys ? 'its standbys have' : 'no standby would have'} ${standbys ? 'none of its rows: a failover loses them' : 'its rows'}; set it LOGGED unless its rows can be lost.`,
      remediation: setLogged(table, row),
    };
  },
  passMessage: 'No table is unlogged.',
});

// A logged table can't reference an unlogged one.
function setLogged(table: string, row: Row): string {
  const statement = `ALTER TABLE ${table} SET LOGGED;`;
  const first = textOrNone(row, 'needed_first');
  if (first === undefined) return statement;
  return `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = ${textIn(row, 'literal')}::regclass AND contype = 'f'; -- then set the tables that it references LOGGED first (${first}), or drop these foreign keys, and run ${statement}`;
}
