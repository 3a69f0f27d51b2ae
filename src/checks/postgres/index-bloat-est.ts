import { numberIn, textIn } from '../columns.ts';
import { percent, size } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';
import { grantTables, unseenStatistics } from './unseen-statistics.ts';

/** Bytes of bloat; it must also be four fifths of the index. */
const thresholds = { warning_bytes: 100 * 1024 * 1024 };

// Pages that a B-tree's entries would fill by the average width of its columns in pg_stats: 40 bytes of page header
// and special space, 12 an entry. Duplicates are stored once, so the real bloat is higher. Only the index owner sees the
// statistics of expressions, so their type's width, or 32, is used.
const candidates = `
  with big as (
    select c.oid, i.indrelid, i.indkey::int2[] as keys, i.indisexclusion, n.nspname, c.relname, t.relname as tablename,
           c.reltuples, c.relpages,
           coalesce((select option_value::float8 from pg_options_to_table(c.reloptions)
                      where option_name = 'fillfactor'), 90) / 100 as fill,
           has_table_privilege(t.oid, 'select') as readable,
           row_security_active(t.oid) as secured,
           current_setting('block_size')::float8 as page
      from pg_class c
      join pg_am am on am.oid = c.relam and am.amname = 'btree'
      join pg_index i on i.indexrelid = c.oid
      join pg_class t on t.oid = i.indrelid
      join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'i'
       and i.indisvalid
       and c.relpersistence <> 't'
       and n.nspname !~ '^pg_'
       and n.nspname <> 'information_schema'
       and c.reltuples >= 0
       and c.relpages * current_setting('block_size')::float8 >= 10 * 1024 * 1024
       and ${notOfExtension('t.oid', 'n.oid')}
  ), width as (
    select big.oid,
           count(*) filter (where k.attnum > 0) as fields,
           count(s.attname) as known,
           coalesce(bool_or(s.null_frac > 0), false) as nulls,
           sum((1 - coalesce(s.null_frac, 0)) * coalesce(s.avg_width, nullif(ia.attlen, -1), 32)) as data
      from big
      join pg_attribute ia on ia.attrelid = big.oid and ia.attnum > 0
      cross join lateral (select big.keys[ia.attnum - 1] as attnum) k
      left join pg_attribute a on a.attrelid = big.indrelid and a.attnum = k.attnum and k.attnum > 0
      left join pg_stats s
        on s.schemaname = big.nspname and s.tablename = big.tablename and s.attname = a.attname and not s.inherited
     group by big.oid
  ), judged as (
    select format('%I.%I', nspname, relname) as index_name,
           nspname, readable, indisexclusion,
           relpages * page as bytes,
           (relpages - 1 - ceil(reltuples * (12 + case when nulls then 8 else 0 end + 8 * ceil(data / 8))
                                / ((page - 40) * fill))) * page as bloat,${unseenStatistics} as unseen
      from big
      join width on width.oid = big.oid
  )
  select index_name, indisexclusion, bytes, bloat, unseen,${grantTables} as needs
    from judged
   where unseen is not null or bloat >= 0.8 * bytes
   order by unseen nulls first, bloat desc, index_name`;

/** B-tree indexes that are much larger than their entries need, by an estimate. */
export const indexBloatEst = relationCheck({
  id: 'PG_INDEX_BLOAT_EST',
  title: 'Bloated index (estimate)',
  category: 'indexes',
  grantReadsRows: true,
  maxSeverity: 'warning',
  cost: 2,
  thresholds,
  bySize: true,
  candidates: () => candidates,
  sorted: true,
  countMetric: 'bloated_indexes_count',
  measure: (row, { thresholds }) => ({
    ...atLeast('index_bloat_bytes', thresholds.warning_bytes),
    object: textIn(row, 'index_name'),
    value: numberIn(row, 'bloat'),
  }),
  fault: (row, facts) => {
    const { warning_bytes } = facts.thresholds;
    const bloat = numberIn(row, 'bloat');
    if (bloat < warning_bytes) return null;
    const index = textIn(row, 'index_name');
    const bytes = numberIn(row, 'bytes');
    return {
      severity: 'warning',
      object: index,
      metricLine: `index ${index} takes ${size(bytes)}, of which about ${size(bloat)} (${percent(bloat / bytes)}) are empty; rebuild it.`,
      // An index that backs an exclusion constraint can't be rebuilt concurrently.
      remediation: `REINDEX INDEX ${row['indisexclusion'] === true ? '' : 'CONCURRENTLY '}${index};`,
    };
  },
  indexAdvice: (row) => ({ action: 'rebuild', index: textIn(row, 'index_name') }),
  passMessage: 'No index is bloated (estimate).',
});
