import type { ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Fault } from '../fault.ts';
import { addUp, type QueryGrowth, selectWork } from '../queries/query-facts.ts';
import { counted, duration, grouped, percent } from '../wording.ts';
import { countOf, faultMeasure, listHighest } from '../worst-measures.ts';
import { counterCheck, type Grown, shareScale } from './counter-check.ts';
import { Figures } from './figures.ts';
import { showDigest, showWaitingDigest } from './query-engine.ts';
import { type Server, setForGood } from './setting-check.ts';

const thresholds = {
  /** Share of statements, as in MySQLTuner, and the minimum of slow ones. */
  warning: 0.05,
  minimum_slow: 10,
  /** Mean milliseconds and calls a day from which on optimizing a query is worth the effort, as for PostgreSQL. */
  info_ms: 50,
  calls_per_day: 50,
};

/** A few calls in five minutes are not a daily rate: a shorter time between two runs counts as an hour. */
const LEAST_SECONDS = 3_600;

/** Seconds that a row takes at most, examined or changed, on a page of a slow disk, and a temporary table on disk. */
const MOST_SECONDS = { row: 0.01, table: 1 };

/** Whether a query must have waited for most of its time. MariaDB does not count the row locks that a query waits for, MySQL no metadata locks. */
function isWaiting({ seconds, read, rows, temporary }: QueryGrowth): boolean {
  return seconds > 2 * ((read + rows) * MOST_SECONDS.row + temporary * MOST_SECONDS.table);
}

/** The slow statements since the last run, without those of backups and those that only waited. */
function slowOnes({ by, now }: Grown, { queries }: Pick<ServerFacts, 'queries'>): number {
  const grown = queries === undefined || 'skipped' in queries ? [] : queries.grown;
  const setAside = queries === undefined || 'skipped' in queries ? undefined : queries.setAside;
  const long = grown.filter(
    ({ query, calls, seconds }) => setAside?.has(query) && seconds / calls >= now.number('long_query_time'),
  );
  return Math.max(0, by('Slow_queries') - long.reduce((sum, { calls }) => sum + calls, 0));
}

/** How many of the slow statements may have been slow only because they waited for row locks, as the end of a sentence. */
function lockWaits({ by, now }: Grown, slow: number): string | null {
  const waited = now.has(LOCK_TIME) && by(LOCK_TIME) > 0 ? by(LOCK_TIME) / 1_000 : 0;
  const longest = Math.max(now.number('long_query_time'), 0.001);
  const most = Math.min(slow, Math.floor(waited / longest));
  if (most === 0) return null;
  const share = most === slow ? 'all of them' : `up to ${grouped(most)} of them`;
  return `statements waited ${duration(waited)} for row locks, which may be why ${share} were slow: MY_LOCK_WAITS names who holds them`;
}

const LOCK_TIME = 'Innodb_row_lock_time';

const ofServer = counterCheck({
  id: 'MY_SLOW_QUERIES',
  title: 'Many slow queries',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: ['Slow_queries', 'Questions'],
  status: [LOCK_TIME],
  variables: ['long_query_time', 'performance_schema', 'slow_query_log', 'log_output'],
  measures: (grown, facts) => {
    const { warning, minimum_slow } = facts.thresholds;
    const slow = slowOnes(grown, facts);
    const judged = { operator: '>=', enough: slow >= minimum_slow, warning } as const;
    return [{ ...shareScale('slow_queries_ratio', judged), value: slow / grown.by('Questions') }];
  },
  fault: (grown, facts) => {
    const { by, now } = grown;
    const { warning, minimum_slow } = facts.thresholds;
    const [slow, all] = [slowOnes(grown, facts), by('Questions')];
    if (slow < minimum_slow || slow / all < warning) return null;
    const looking = now.on('slow_query_log')
      ? 'look at those that take most time'
      : 'turn on the slow query log';
    return {
      metricLine: `${grouped(slow)} of ${counted(all, 'statement')} were slow since the last run (${percent(slow / all)} took over ${now.number('long_query_time')} s, or count as slow by the server's settings); ${lockWaits(grown, slow) ?? looking}.`,
      remediation: remediation(now, facts),
    };
  },
  passMessage: ({ by }) =>
    `${grouped(by('Slow_queries'))} of ${counted(by('Questions'), 'statement')} were slow since the last run.`,
});

/** Turns on the log, or shows the slow statements where the server keeps them already. */
function remediation(settings: Figures, server: Server): string {
  const output = settings.text('log_output').toUpperCase();
  if (!settings.on('slow_query_log')) return setForGood(server, 'slow_query_log', 'ON');
  if (settings.on('performance_schema'))
    return 'SELECT schema_name, digest_text, count_star, round(sum_timer_wait / 1e12, 3) AS seconds, sum_rows_examined, sum_rows_sent FROM performance_schema.events_statements_summary_by_digest ORDER BY sum_timer_wait DESC LIMIT 10; -- then EXPLAIN the first, and see whether an index helps';
  if (output.includes('TABLE'))
    return 'SELECT start_time, query_time, rows_examined, db, left(sql_text, 200) AS statement FROM mysql.slow_log ORDER BY query_time DESC LIMIT 10; -- then EXPLAIN the first, and see whether an index helps';
  if (output.includes('FILE'))
    return "SHOW GLOBAL VARIABLES WHERE variable_name IN ('slow_query_log_file', 'datadir'); -- then summarise that file with mysqldumpslow -s t (mariadb-dumpslow), and EXPLAIN the first statements";
  return setForGood(server, 'log_output', "'FILE'");
}

/** Statements that take longer than long_query_time, and the queries that were slow and frequent since the last run. */
export const slowQueries: typeof ofServer = {
  ...ofServer,
  privilege: () => 'SELECT ON performance_schema.*',
  readsQueries: true,
  judge: (rows, facts) => {
    const server = ofServer.judge(rows, facts);
    const { before, queries } = facts;
    if ('skipped' in server || !before) return server;
    const also = (sentence: string) => `${server.passMessage} ${sentence}`;
    if (!new Figures(rows).on('performance_schema'))
      return {
        ...server,
        passMessage: also('With performance_schema off, single queries are not measured.'),
      };
    if (queries === undefined) return server;
    if ('skipped' in queries) {
      const { skipped, grant } = queries;
      return {
        ...server,
        passMessage: also(`Single queries: ${skipped}`),
        ...(grant !== undefined && { grant }),
      };
    }

    const { info_ms, calls_per_day } = facts.thresholds;
    const warning = info_ms / 1_000;
    const scale = { metric: 'query_mean_seconds', operator: '>=', warning, critical: null } as const;
    const days = Math.max(LEAST_SECONDS, before.seconds) / 86_400;
    const executed = addUp(selectWork(queries, 'grown').map((one) => ({ ...one, database: '', role: '' })))
      .map((one) => ({ one, digest: one.query, calls: one.calls, mean: one.seconds / one.calls }))
      .filter(({ calls }) => calls >= calls_per_day * days)
      .toSorted((one, other) => other.mean - one.mean);
    const slow = executed.filter(({ mean }) => mean >= warning);
    const faults = slow.map(({ one, digest, calls, mean }): Fault => {
      const measured = faultMeasure({ ...scale, object: digest, value: mean });
      return {
        severity: 'info',
        object: digest,
        metricLine: `Query ${digest} took ${grouped(mean * 1_000)} ms on average, ${counted(calls, 'time')} since the last run (${duration(mean * calls)} in all); ${isWaiting(one) ? 'it examined too few rows to work so long: find out what it waits for, such as a lock' : 'check whether an index helps'}.`,
        remediation: isWaiting(one) ? showWaitingDigest(digest) : showDigest(digest),
        measured,
      };
    });
    const means = executed.map(({ digest, mean }) => ({ object: digest, value: mean }));
    return {
      passMessage: also(`No frequent query took ${grouped(info_ms)} ms or more on average.`),
      faults: [...server.faults, ...faults].slice(0, FAULT_LIMIT),
      measures: [
        ...server.measures,
        ...listHighest(scale, means),
        countOf('slow_queries_count', slow.length),
      ],
      truncated: server.faults.length + faults.length > FAULT_LIMIT,
    };
  },
};
