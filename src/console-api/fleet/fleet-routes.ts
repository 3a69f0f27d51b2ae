// The schema of a row, the filters and the statement name the same columns, so they stay together.

import { wholeNumber } from '../../http/query-parameters.ts';
import type { MaintenanceRow } from '../../notifications/maintenance/maintenance-row.ts';
import { count, identifier, score, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { isOfVersion, serverVersion, versionSeries } from '../../platform/text/server-version.ts';
import { normalisedTag, tagFilter } from '../../platform/text/tags.ts';
import { fleetStatusSql } from '../../store/sql/fleet-status.sql.ts';
import { CONNECTION_TYPES } from '../../vocabulary/connection-types.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { FLEET_STATUSES } from '../../vocabulary/score-bands.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { activeWindows, isInWindow } from '../alerts/shown-alerts.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { type OpenTickets, openChecks, openTicketsOf } from './open-checks.ts';

/** A connection's status: by its latest score, or never_run without a check. */
export const Status = stringEnum(...FLEET_STATUSES);

/** The latest check's worst finding. */
const WorstFinding = Type.Object({
  check_id: Type.String(),
  title: Type.String(),
  severity: stringEnum(...SEVERITIES),
});

const FleetRow = Type.Object({
  id: identifier('connection identifier'),
  name: Type.String(),
  engine: stringEnum(...ENGINES),
  /** Such as 18.4 or 8.0.36; null before a run measured it. */
  version: nullable(Type.String()),
  connection_type: stringEnum(...CONNECTION_TYPES),
  host: Type.String(),
  port: Type.Integer(),
  /** Sorted. */
  tags: Type.Array(Type.String()),
  score: nullable(score('latest score; null before the first check')),
  status: Status,
  /** The last score of each of the last 30 days (UTC), oldest first; null for a day without a check. */
  trend: Type.Array(nullable(score('of a day'))),
  /** Filtered by a check: its gravest open ticket. */
  worst: nullable(WorstFinding),
  /** Filtered by a check: its open tickets. */
  open_tickets: nullable(Type.Integer()),
  in_maintenance: Type.Boolean(),
  last_checked_at: nullable(timestamp('null before the first check')),
  /** Null for sample data, which is never checked. */
  next_due_at: nullable(timestamp('when it is checked next')),
  interval_seconds: nullable(Type.Number()),
  /** The latest check is too old to show the current state. */
  stale: Type.Boolean(),
});

export const Fleet = Type.Object({
  data: Type.Array(FleetRow),
  /** Counts all connections that match the other filters, ignoring `status`. */
  summary: Type.Object({
    total: count('connections'),
    healthy: count('healthy and not stale'),
    warning: count('warning'),
    critical: count('critical'),
    never_run: count('without a check'),
    stale: count('whose latest check is too long ago, whatever its score'),
  }),
  /** The series of versions in the account, such as 18 or 8.0, those of an engine together and the newest first. */
  versions: Type.Array(
    Type.Object({ engine: stringEnum(...ENGINES), series: Type.String(), connections: count('connections') }),
  ),
  /** The last day of every trend, such as 2026-01-31. */
  trend_to: Type.String(),
});

const FleetQuery = Type.Object({
  status: Type.Optional(stringEnum(...FLEET_STATUSES, 'stale')),
  /** Part of a name or host, case-insensitive. */
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  /** Tags, separated by commas, as in `tagFilter`. */
  tags: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
  engine: Type.Optional(stringEnum(...ENGINES)),
  /** A version or how it begins: 18, 18.4, 8.0. */
  version: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,4}(?:\\.[0-9]{1,4}){0,2}$',
      description: 'version must be a version or its first numbers, such as 18 or 8.0.36.',
    }),
  ),
  /** Only connections with an open ticket of this check. */
  check: Type.Optional(Type.String({ pattern: '^[A-Z0-9_]{1,60}$' })),
  sort: Type.Optional(stringEnum('worst', 'name', 'score', 'last_checked_at')),
  /** Default: all. A long answer costs more of the session's budget. */
  limit: wholeNumber('limit', 'Only the first rows.', { minimum: 1, maximum: 1_000 }),
});

export type FleetRow = Static<typeof FleetRow>;
export type Fleet = Static<typeof Fleet>;
type FleetQuery = Static<typeof FleetQuery>;
export type Status = Static<typeof Status>;

/** Days of a row's trend. */
const TREND_DAYS = 30;

/**
 * Whether the latest check, at `t.last_checked_at`, is stale: older than two intervals of `s.every` plus the three
 * minutes that a run may take with its wait; or its collector is silent. For sample data, which is never checked, a day. $1 is the
 * account.
 */
export const STALE = `
  (coalesce(t.last_checked_at + coalesce(2 * s.every + interval '3 min', interval '1 day') < now(), false)
   or (s.account_id, s.connection_id) in
      (select m.account_id, m.connection_id
         from collected_connection m
         join collector o using (account_id, collector_id)
        where m.account_id = $1 and o.silent_at is not null))`;

// Reads only rows stored per connection: reading 10,000 checks would take 40,000 pages of the store. Scores and
// tags are text because the driver parses arrays more slowly; a tag contains no comma.
const listFleet = `
  select c.connection_id as id, c.name, c.engine, v.version as version_number, c.connection_type, c.host, c.port,
         c.latest_score as score,
         ${fleetStatusSql('c.latest_score')} as status,
         array_to_string(t.scores[1:${TREND_DAYS}], ',', '') as scores,
         (now() at time zone 'UTC')::date - t.last_day as days_ago,
         t.worst, t.last_checked_at, s.due_at as next_due_at,
         extract(epoch from s.every)::float8 as interval_seconds,
         ${STALE} as stale,
         array_to_string(g.tags, ',') as tags
    from connection c
    left join connection_tags g on g.account_id = $1 and g.connection_id = c.connection_id
    left join connection_version v on v.account_id = $1 and v.connection_id = c.connection_id
    left join connection_trend t on t.account_id = $1 and t.connection_id = c.connection_id
    left join connection_schedule s on s.account_id = $1 and s.connection_id = c.connection_id
   where c.account_id = $1
     and c.removed_at is null
   order by lower(c.name) collate "C", c.connection_id`;

type Computed =
  | 'version'
  | 'trend'
  | 'last_checked_at'
  | 'next_due_at'
  | 'tags'
  | 'open_tickets'
  | 'in_maintenance';

interface StoredRow extends Omit<FleetRow, Computed> {
  version_number: number | null;
  scores: string | null;
  tags: string | null;
  days_ago: number | null;
  last_checked_at: Date | null;
  next_due_at: Date | null;
}

const getFleet = consoleRoute({
  method: 'GET',
  path: '/fleet',
  permission: 'health:read',
  query: FleetQuery,
  response: Fleet,
  async handler({ actor: { accountId }, read, query: { sort = 'worst', limit, ...filter } }) {
    const now = new Date();
    const { status, check } = filter;
    const [rows, windows, tickets] = await read((run) =>
      Promise.all([
        run<StoredRow>(listFleet, [accountId]),
        activeWindows(run, accountId),
        check === undefined ? null : openTicketsOf(run, accountId, check),
      ]),
    );
    const found = filtered(rows, filter).filter(({ id }) => tickets?.has(id) !== false);
    const count = (wanted: Wanted) => found.filter((row) => isOf(row, wanted)).length;
    const chosen = found.filter((row) => status === undefined || isOf(row, status)).sort(ORDERS[sort]);
    return {
      data: chosen.slice(0, limit).map((row) => rowOf(row, windows, tickets?.get(row.id))),
      summary: {
        total: found.length,
        healthy: count('healthy'),
        warning: count('warning'),
        critical: count('critical'),
        never_run: count('never_run'),
        stale: count('stale'),
      },
      versions: versionsOf(rows),
      trend_to: now.toISOString().slice(0, 10),
    };
  },
});

const CheckList = Type.Object({
  /** Those that most connections have come first. */
  data: Type.Array(
    Type.Object({
      check_id: Type.String(),
      title: Type.String(),
      severity: stringEnum(...SEVERITIES),
      connections: count('connections with an open ticket of it'),
    }),
  ),
});

export type CheckList = Static<typeof CheckList>;

const listChecks = consoleRoute({
  method: 'GET',
  path: '/fleet/checks',
  permission: 'health:read',
  response: CheckList,
  async handler({ actor: { accountId }, read }) {
    return { data: await read((run) => openChecks(run, accountId)) };
  },
});

export const fleetRoutes: ConsoleRoute[] = [getFleet, listChecks];

type Wanted = NonNullable<FleetQuery['status']>;

/** The rows that match every filter but the status. */
function filtered(rows: StoredRow[], { q, tags, engine, version }: FleetQuery): StoredRow[] {
  const part = q?.toLowerCase();
  const wanted = (tags?.split(',') ?? []).map((tag) => normalisedTag(tag) ?? tag);
  const passes = tagFilter(wanted);
  return rows.filter(
    (row) =>
      (part === undefined || isNamed(row, part)) &&
      (engine === undefined || row.engine === engine) &&
      (version === undefined || isOfVersion(versionOf(row) ?? '', version)) &&
      (wanted.length === 0 || passes(tagsOf(row))),
  );
}

function versionOf({ engine, version_number }: StoredRow): string | null {
  return version_number === null ? null : serverVersion(engine, version_number);
}

function versionsOf(rows: readonly StoredRow[]): Fleet['versions'] {
  const counts = new Map<string, Fleet['versions'][number] & { number: number }>();
  for (const { engine, version_number: number } of rows) {
    if (number === null) continue;
    const series = versionSeries(engine, number);
    const key = `${engine} ${series}`;
    const counted = counts.get(key) ?? { engine, series, connections: 0, number };
    counts.set(key, counted);
    counted.connections += 1;
  }
  const place = ({ engine }: Fleet['versions'][number]) => ENGINES.indexOf(engine);
  const sorted = [...counts.values()].sort((a, b) => place(a) - place(b) || b.number - a.number);
  return sorted.map(({ number: _, ...version }) => version);
}

function tagsOf({ tags }: Pick<StoredRow, 'tags'>): string[] {
  return tags?.split(',') ?? [];
}

function isNamed({ name, host }: StoredRow, part: string): boolean {
  return name.toLowerCase().includes(part) || host.toLowerCase().includes(part);
}

// A stale connection does not count as healthy.
function isOf({ status, stale }: StoredRow, wanted: Wanted): boolean {
  if (wanted === 'stale') return stale;
  return status === wanted && !(stale && status === 'healthy');
}

const URGENCY = { critical: 0, warning: 1, healthy: 4, never_run: 3 };
const urgency = ({ status, stale }: StoredRow) => (stale && status === 'healthy' ? 2 : URGENCY[status]);
const points = (row: StoredRow) => row.score ?? 101;

// Rows are sorted by name already, and the sort is stable.
const ORDERS: Record<NonNullable<FleetQuery['sort']>, (a: StoredRow, b: StoredRow) => number> = {
  worst: (a, b) => urgency(a) - urgency(b) || points(a) - points(b),
  name: () => 0,
  score: (a, b) => points(a) - points(b),
  last_checked_at: (a, b) => (a.last_checked_at?.getTime() ?? 0) - (b.last_checked_at?.getTime() ?? 0),
};

function rowOf(
  stored: StoredRow,
  windows: readonly MaintenanceRow[],
  ticket: OpenTickets | undefined,
): FleetRow {
  const { scores, days_ago, last_checked_at, next_due_at, version_number: _, ...row } = stored;
  const tags = tagsOf(row);
  return {
    ...row,
    version: versionOf(stored),
    ...(ticket && { worst: ticket.worst }),
    tags,
    open_tickets: ticket?.open_tickets ?? null,
    in_maintenance: windows.some((window) => isInWindow(window, { ...row, tags })),
    trend: trendOf(scores ?? '', days_ago ?? TREND_DAYS),
    last_checked_at: last_checked_at?.toISOString() ?? null,
    next_due_at: next_due_at?.toISOString() ?? null,
  };
}

/** The scores of the last days, today's last, from the scores up to the day of the latest check, `days` ago. */
function trendOf(scores: string, daysAgo: number): (number | null)[] {
  const trend = Array<number | null>(TREND_DAYS).fill(null);
  let place = TREND_DAYS - 1 - Math.max(daysAgo, 0);
  for (const score of scores.split(',')) {
    if (place < 0) break;
    if (score !== '') trend[place] = Number(score);
    place -= 1;
  }
  return trend;
}
