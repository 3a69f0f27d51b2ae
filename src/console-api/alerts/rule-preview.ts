import { isWorse, type RuleCondition } from '../../notifications/alerts/alert-rule.ts';
import { countFirings, type MeasuredPoint } from '../../notifications/alerts/evaluation/count-firings.ts';
import {
  type ConnectionScope,
  includesConnection,
  type ScopedConnection,
} from '../../notifications/connection-scope.ts';
import { readHistory } from '../../runs/measures/read-history.ts';
import type { Read } from '../../store/read.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { NewRule, RulePreview } from './alert-schemas.ts';

const DAYS = 7;
/** The most connections whose week is read. */
const LOOKED_AT = 20;
/** The most objects of a connection, such as its tables, of which the worst value counts. */
const SERIES = 20;

const selectConnections = `
  select c.connection_id as id, c.name, ${tagsOfConnection} as tags
    from connection c
   where c.account_id = $1 and c.removed_at is null
   order by c.connection_id`;

const selectScores = `
  select extract(epoch from created_at)::float8 as at, score as value
    from health_check
   where account_id = $1 and connection_id = $2 and created_at > now() - interval '${DAYS} days'
   order by created_at`;

const selectLoad = (column: string) => `
  select extract(epoch from at)::float8 as at, ${column} as value
    from session_load
   where account_id = $1 and connection_id = $2 and at > now() - interval '${DAYS} days'
   order by at`;

const selectSeries = `
  select series_id as id from measure_series
   where account_id = $1 and connection_id = $2 and check_id = $3 and metric = $4
   order by last_seen_at desc, series_id
   limit ${SERIES}`;

/** The statement that reads the values of a metric. The others are not kept over time. */
const STORED: Partial<Record<RuleCondition['metric'], string>> = {
  score: selectScores,
  load_active_sessions: selectLoad('active'),
  blocked_sessions: selectLoad('blocked_sessions'),
  blocked_seconds: selectLoad('blocked_seconds'),
};

/** The values of a week; null if the store does not keep them. */
async function readPoints(
  read: Read,
  ids: readonly [accountId: number, connectionId: number],
  { metric, check_id, measure, operator }: RuleCondition,
): Promise<MeasuredPoint[] | null> {
  const stored = STORED[metric];
  if (stored) return read<MeasuredPoint>(stored, [...ids]);
  if (metric !== 'measure' || measure === null) return null;
  const series = await read<{ id: number }>(selectSeries, [...ids, check_id ?? '', measure]);
  const to = new Date();
  const from = new Date(to.getTime() - DAYS * 86_400_000);
  const histories = await readHistory(read, ...ids, { series: series.map(({ id }) => id), from, to });
  const worst = new Map<number, number>();
  for (const { at, last } of histories) {
    for (const [place, value] of last.entries()) {
      const time = at[place] ?? 0;
      const known = worst.get(time);
      if (value !== null && (known === undefined || isWorse(value, operator, known))) worst.set(time, value);
    }
  }
  return [...worst].map(([at, value]) => ({ at, value })).toSorted((a, b) => a.at - b.at);
}

// One of the console's connections to a store stays free of them.
const previews = new ConcurrencyLimit({ ofAll: 2, ofAccount: 1 }, 'Another preview of a rule is running', 2);

const preview = consoleRoute({
  method: 'POST',
  path: '/alert-rules/preview',
  permission: 'health:read',
  body: NewRule,
  response: RulePreview,
  // A week of up to 20 connections.
  cost: 10,
  async handler({ actor: { accountId }, body: { connections, ...rule }, read }) {
    const scope: ConnectionScope = { connection_ids: connections.ids, connection_names: connections.names };
    const leave = previews.enter(accountId);
    try {
      const all = await read((run) => run<ScopedConnection>(selectConnections, [accountId]));
      const covered = all.filter((connection) => includesConnection(scope, connection));
      const looked = covered.slice(0, LOOKED_AT);
      let times: number | null = 0;
      // A read for each connection: others get their turns in between.
      for (const { id } of looked) {
        const points = await read((run) => readPoints(run, [accountId, id], rule));
        times = points === null || times === null ? null : times + countFirings(points, rule);
      }
      return { times, covered: covered.length, looked_at: looked.length };
    } finally {
      leave();
    }
  },
});

/** The route that says how often a rule would have fired. */
export const rulePreviewRoutes: ConsoleRoute[] = [preview];
