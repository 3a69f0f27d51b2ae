import type { Fault } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { counted, duration, grouped, percent } from '../wording.ts';
import { countOf, faultMeasure, highestOf } from '../worst-measures.ts';
import { clockIn, counterCheck, shareScale } from './counter-check.ts';
import { Figures } from './figures.ts';
import { digestSql, digestsSince, showDigest } from './query-digests.ts';
import { setForGood } from './setting-check.ts';

const thresholds = {
  /** Share of statements, as in MySQLTuner, and the minimum of slow ones. */
  ...{ warning: 0.05, minimum_slow: 10 },
  /** Mean milliseconds and calls a day from which on optimizing a query is worth the effort, as for PostgreSQL. */
  ...{ info_ms: 50, calls_per_day: 50 },
};

/** A few calls in five minutes are not a daily rate: a shorter time between two runs counts as an hour. */
const LEAST_SECONDS = 3_600;

const ofServer = counterCheck({
  id: 'MY_SLOW_QUERIES',
  title: 'Many slow queries',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: ['Slow_queries', 'Questions'],
  variables: ['long_query_time', 'performance_schema'],
  measures: ({ by }, { thresholds: { warning, minimum_slow } }) => {
    const slow = by('Slow_queries');
    const judged = { operator: '>=', enough: slow >= minimum_slow, warning } as const;
    return [{ ...shareScale('slow_queries_ratio', judged), value: slow / by('Questions') }];
  },
  fault: ({ by, now }, facts) => {
    const { warning, minimum_slow } = facts.thresholds;
    const [slow, all] = [by('Slow_queries'), by('Questions')];
    if (slow < minimum_slow || slow / all < warning) return null;
    return {
      metricLine: `${grouped(slow)} of ${counted(all, 'statement')} were slow since the last run (${percent(slow / all)} took over ${now.number('long_query_time')} s, or count as slow by the server's settings); turn on the slow query log.`,
      remediation: setForGood(facts.version, 'slow_query_log', 'ON'),
    };
  },
  passMessage: ({ by }) =>
    `${grouped(by('Slow_queries'))} of ${counted(by('Questions'), 'statement')} were slow since the last run.`,
});

/** Statements that take longer than long_query_time, and the queries that were slow and frequent since the last run. */
export const slowQueries: typeof ofServer = {
  ...ofServer,
  privilege: () => 'SELECT ON performance_schema.*',
  sql: (version) => [...[ofServer.sql(version)].flat(), digestSql],
  judge: (rows, facts) => {
    const server = ofServer.judge(rows, facts);
    const { before } = facts;
    if ('skipped' in server || !before) return server;
    const also = (sentence: string) => `${server.passMessage} ${sentence}`;
    if (!new Figures(rows).on('performance_schema'))
      return {
        ...server,
        passMessage: also('With performance_schema off, single queries are not measured.'),
      };

    const { info_ms, calls_per_day } = facts.thresholds;
    const warning = info_ms / 1_000;
    const scale = { metric: 'query_mean_seconds', operator: '>=', warning, critical: null } as const;
    const days = Math.max(LEAST_SECONDS, before.seconds) / 86_400;
    const queries = digestsSince(rows, before.rows, clockIn(before.rows))
      .filter(({ calls }) => calls >= calls_per_day * days)
      .toSorted((one, other) => other.mean - one.mean);
    const slow = queries.filter(({ mean }) => mean >= warning);
    const faults = slow.map(({ digest, calls, mean }): Fault => {
      const measured = faultMeasure({ ...scale, object: digest, value: mean });
      return {
        severity: 'info',
        object: digest,
        metricLine: `Query ${digest} took ${grouped(mean * 1_000)} ms on average, ${counted(calls, 'time')} since the last run (${duration(mean * calls)} in all); check whether an index helps.`,
        remediation: showDigest(digest),
        measured,
      };
    });
    const means = queries.map(({ digest, mean }) => ({ object: digest, value: mean }));
    return {
      passMessage: also(`No frequent query took ${grouped(info_ms)} ms or more on average.`),
      faults: [...server.faults, ...faults].slice(0, FAULT_LIMIT),
      measures: [...server.measures, ...highestOf(scale, means), countOf('slow_queries_count', slow.length)],
      truncated: server.faults.length + faults.length > FAULT_LIMIT,
    };
  },
};
