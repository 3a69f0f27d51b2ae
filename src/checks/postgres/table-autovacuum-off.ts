import { textIn } from '../columns.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

// A toast table has the parameter for itself, under the same name; it is set through its table.
const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         case c.relkind when 'm' then 'MATERIALIZED VIEW' else 'TABLE' end as kind,
         string_agg(off.parameter, ', ' order by off.parameter) as parameters,
         count(*) over ()::float8 as total, null as unseen
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select 'autovacuum_enabled' as parameter
        from pg_options_to_table(c.reloptions)
       where option_name = 'autovacuum_enabled' and not option_value::bool
      union all
      select 'toast.autovacuum_enabled'
        from pg_class toast
       cross join pg_options_to_table(toast.reloptions)
       where toast.oid = c.reltoastrelid
         and option_name = 'autovacuum_enabled' and not option_value::bool
    ) off
   where c.relkind in ('r', 'm')
     and (c.reloptions is not null
          or exists (select from pg_class toast where toast.oid = c.reltoastrelid and toast.reloptions is not null))
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and ${notOfExtension('c.oid', 'n.oid')}
   group by n.nspname, c.relname, c.relkind, c.reltuples
   order by c.reltuples desc, table_name`;

/** Tables with autovacuum off: dead rows pile up, and the planner's statistics become stale. */
export const tableAutovacuumOff = relationCheck({
  id: 'PG_TABLE_AUTOVACUUM_OFF',
  title: 'Autovacuum off for a table',
  category: 'vacuum',
  maxSeverity: 'warning',
  candidates: () => candidates,
  sorted: true,
  countMetric: 'tables_without_autovacuum_count',
  fault: (row) => {
    const table = textIn(row, 'table_name');
    const parameters = textIn(row, 'parameters');
    return {
      severity: 'warning',
      object: table,
      metricLine: `table ${table} has ${parameters.replaceAll(',', ' and')} off; turn it on, or vacuum it on a schedule of your own.`,
      remediation: `ALTER ${textIn(row, 'kind')} ${table} RESET (${parameters});`,
    };
  },
  passMessage: 'No table has autovacuum off.',
});
