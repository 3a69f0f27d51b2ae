import { numberIn, textIn } from '../columns.ts';
import { size } from '../wording.ts';
import { relationCheck } from './relation-check.ts';

const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         c.relpages::float8 * current_setting('block_size')::float8 as bytes,
         count(*) over ()::float8 as total, null as unseen
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where c.relkind = 'r'
     and c.relpersistence = 'u'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and not exists (select from pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
   order by c.relpages desc, table_name`;

/** Tables that a crash empties and that standbys do not have. */
export const unloggedTable = relationCheck({
  id: 'PG_UNLOGGED_TABLE',
  title: 'Unlogged table',
  category: 'schema',
  maxSeverity: 'info',
  candidates: () => candidates,
  countMetric: 'unlogged_tables_count',
  fault: (row) => {
    const table = textIn(row, 'table_name');
    return {
      severity: 'info',
      object: table,
      metricLine: `table ${table} (${size(numberIn(row, 'bytes'))}) is unlogged: a crash empties it, and no standby has its rows; set it LOGGED unless its rows can be lost.`,
      remediation: `ALTER TABLE ${table} SET LOGGED;`,
    };
  },
  passMessage: 'No table is unlogged.',
});
