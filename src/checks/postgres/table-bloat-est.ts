import { numberIn, textIn } from '../columns.ts';
import { percent, size } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';
import { grantTables, unseenStatistics } from './unseen-statistics.ts';

/** Bytes of bloat; it must also be a fifth of the table. */
const thresholds = { warning_bytes: 250 * 1024 * 1024 };

// Pages that the rows would fill by their average width in pg_stats: 24 bytes of page header, 4 a line pointer, 23 a
// row header and its null bitmap, both rounded up to 8. A fixed-width column is padded up to its alignment after a
// narrower one. Under 10 MB nothing is estimated, so that the check asks for a privilege only if it would help.
const candidates = `
  with big as (
    select c.oid, n.nspname, c.relname, c.reltuples, c.relpages,
           coalesce((select option_value::float8 from pg_options_to_table(c.reloptions)
                      where option_name = 'fillfactor'), 100) / 100 as fill,
           has_table_privilege(c.oid, 'select') as readable,
           row_security_active(c.oid) as secured,
           current_setting('block_size')::float8 as page
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm')
       and c.relpersistence <> 't'
       and n.nspname !~ '^pg_'
       and n.nspname <> 'information_schema'
       and c.reltuples >= 0
       and c.relpages * current_setting('block_size')::float8 >= 10 * 1024 * 1024
       and ${notOfExtension('c.oid', 'n.oid')}
  ), field as (
    select big.oid, a.attname, a.attlen,
           case a.attalign when 'd' then 8 when 'i' then 4 when 's' then 2 else 1 end as align,
           lag(greatest(a.attlen, 1)) over (partition by big.oid order by a.attnum) as after
      from big
      join pg_attribute a on a.attrelid = big.oid and a.attnum > 0 and not a.attisdropped
  ), width as (
    select big.oid,
           count(*) as fields,
           count(s.attname) as known,
           coalesce(bool_or(s.null_frac > 0), false) as nulls,
           sum((1 - coalesce(s.null_frac, 0))
               * (coalesce(s.avg_width, nullif(field.attlen, -1), 32)
                  + case when field.attlen > 0 then greatest(field.align - coalesce(field.after, 8), 0) else 0 end)) as data
      from big
      join field on field.oid = big.oid
      left join pg_stats s
        on s.schemaname = big.nspname and s.tablename = big.relname and s.attname = field.attname and not s.inherited
     group by big.oid
  ), estimate as (
    select big.*, width.known, width.fields,
           ceil(reltuples / greatest(1, floor((page - 24) * fill
             / (4 + 8 * ceil((23 + case when nulls then ceil(fields / 8.0) else 0 end) / 8) + 8 * ceil(data / 8))))) as needed
      from big
      join width on width.oid = big.oid
  ), judged as (
    select format('%I.%I', nspname, relname) as table_name,
           quote_literal(format('%I.%I', nspname, relname)) as literal,
           nspname, readable,
           relpages * page as bytes,
           (relpages - needed) * page as bloat,${unseenStatistics} as unseen
      from estimate
  )
  select table_name, literal, bytes, bloat, unseen,${grantTables} as needs
    from judged
   where unseen is not null or bloat >= 0.2 * bytes
   order by unseen nulls first, bloat desc, table_name`;

/** Tables that are much larger than their rows need, by an estimate. */
export const tableBloatEst = relationCheck({
  id: 'PG_TABLE_BLOAT_EST',
  title: 'Bloated table (estimate)',
  category: 'vacuum',
  grantReadsRows: true,
  maxSeverity: 'warning',
  cost: 2,
  thresholds,
  bySize: true,
  candidates: () => candidates,
  sorted: true,
  countMetric: 'bloated_tables_count',
  measure: (row, { thresholds }) => ({
    ...atLeast('table_bloat_bytes', thresholds.warning_bytes),
    object: textIn(row, 'table_name'),
    value: numberIn(row, 'bloat'),
  }),
  fault: (row, facts) => {
    const { warning_bytes } = facts.thresholds;
    const bloat = numberIn(row, 'bloat');
    if (bloat < warning_bytes) return null;
    const table = textIn(row, 'table_name');
    const bytes = numberIn(row, 'bytes');
    return {
      severity: 'warning',
      object: table,
      metricLine: `table ${table} takes ${size(bytes)}, of which about ${size(bloat)} (${percent(bloat / bytes)}) are empty; repack it, online with pg_repack.`,
      remediation: `SELECT pg_size_pretty(pg_total_relation_size(${textIn(row, 'literal')}::regclass)); -- then, in a quiet period: VACUUM (FULL, ANALYZE) ${table}; it locks the table and needs up to that much free disk space; pg_repack locks it only for moments`,
    };
  },
  passMessage: 'No table is bloated (estimate).',
});
