import type { ServerFacts } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { counted, grouped, percent } from '../wording.ts';
import { atMost } from '../worst-measures.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

/** Share of scans that use an index (as in pghero), and a minimum of sequential scans, as a backup causes some. */
const thresholds = { info: 0.95, minimum_scans: 10 };

// The most-read tables only: what is stored from run to run must stay small.
const TABLES = 200;

const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         quote_literal(format('%I.%I', n.nspname, c.relname)) as literal,
         greatest(c.reltuples, pg_stat_get_live_tuples(c.oid))::float8 as tuples,
         pg_stat_get_numscans(c.oid)::float8 as seq_scans,
         (select coalesce(sum(pg_stat_get_numscans(i.indexrelid)), 0) from pg_index i where i.indrelid = c.oid)::float8
           as index_scans,
         null as unseen
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'm')
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)) >= 10000
     and ${notOfExtension('c.oid', 'n.oid')}
   order by pg_stat_get_tuples_returned(c.oid) desc, table_name`;

/** Large tables with many sequential scans since the last run, for which an index may be missing. */
export const seqScanHeavy = relationCheck({
  id: 'PG_SEQ_SCAN_HEAVY',
  title: 'Table with many sequential scans',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds,
  comparesRuns: true,
  bySize: true,
  candidates: () => candidates,
  rowLimit: TABLES,
  sorted: true,
  blind: ({ trackCounts, countedSeconds }, { before }) => {
    if (!trackCounts) return 'Not measured: scans are not counted while track_counts is off.';
    if (!before) return 'Not measured: it takes two runs, and this is the first.';
    const [server] = before.rows;
    if (server && countedSeconds >= numberIn(server, 'counted_seconds')) return undefined;
    return 'Not measured: the statistics were reset, or the server restarted, since the last run.';
  },
  countMetric: 'tables_scanned_sequentially_count',
  measure: (row, facts) => {
    const scans = scansSince(row, facts);
    if (scans === null) return null;
    const scale = atMost('index_scans_ratio', facts.thresholds.info);
    return { ...scale, object: textIn(row, 'table_name'), value: scans.share };
  },
  fault: (row, facts) => {
    const { seqScans, share } = scansSince(row, facts) ?? { seqScans: 0, share: 1 };
    if (share >= facts.thresholds.info) return null;
    const table = textIn(row, 'table_name');
    return {
      severity: 'info',
      object: table,
      metricLine: `table ${table} (${grouped(numberIn(row, 'tuples'))} rows) had ${counted(seqScans, 'sequential scan')} since the last run, and ${percent(share)} of its scans used an index; add an index for its queries.`,
      remediation: `SELECT seq_scan, seq_tup_read, idx_scan FROM pg_stat_all_tables WHERE relid = ${textIn(row, 'literal')}::regclass; -- then CREATE INDEX CONCURRENTLY on the columns that its queries filter by`,
    };
  },
  passMessage: 'No large table has many sequential scans.',
});

/** The scans of a table since the last run; null if they are not known, or too few of them were sequential. */
function scansSince(
  row: Row,
  { before, thresholds: { minimum_scans } }: ServerFacts<typeof thresholds>,
): { seqScans: number; share: number } | null {
  const last = before?.rows.find(({ table_name }) => table_name === row['table_name']);
  if (last === undefined) return null;
  const seqScans = numberIn(row, 'seq_scans') - numberIn(last, 'seq_scans');
  const indexScans = numberIn(row, 'index_scans') - numberIn(last, 'index_scans');
  if (seqScans < minimum_scans || indexScans < 0) return null;
  return { seqScans, share: indexScans / (seqScans + indexScans) };
}
