import { type BackupFacts, judgeAge } from '../../checks/backups/backup-checks.ts';
import { findingId } from '../../checks/own/own-check.ts';
import type { Read } from '../../store/read.ts';
import { backupFacts } from '../../store/sql/backup-facts.sql.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { severityRank } from '../../store/sql/severity-rank.sql.ts';
import { isSnoozed } from '../../store/sql/triage.sql.ts';
import { plansWith } from '../../vocabulary/event-kinds.ts';
import type { Plan } from '../../vocabulary/plans.ts';
import type { Severity } from '../../vocabulary/severities.ts';
import { type ConnectionScope, includesConnection, type ScopedConnection } from '../connection-scope.ts';

/** How many things of a list are named; the rest is counted. */
const NAMED = 4;
/** A forecast is told if it reaches its limit within so many days. */
const SOON_DAYS = 90;

/** A ticket of a digest. */
interface DigestTicket {
  id: number;
  connection_id: number;
  connection: string;
  severity: Severity;
  title: string;
  object: string | null;
  /** When it opened. */
  since: Date;
  /** Null while it is open. */
  closed_at: Date | null;
}

/** Tickets by severity, and the first of them. */
interface DigestTickets {
  critical: number;
  warning: number;
  info: number;
  /** The worst first, then the oldest. */
  first: DigestTicket[];
}

/** A series of a digest. */
interface DigestSeries {
  connection_id: number;
  connection: string;
  metric: string;
  database: string;
  object: string | null;
}

/** The own check of a series, which reaches its last level instead of being full. */
interface ReachedLevel {
  title: string;
  level: 'warning' | 'critical';
}

/** What happened on an account's databases. All times are UTC. */
export interface Digest {
  account: { id: number; name: string };
  from: Date;
  until: Date;
  connections: number;
  /** The average score of the connections that have one. Null if none has. */
  score: { now: number | null; before: number | null };
  /** Null if the plan has no tickets, as the next three. */
  opened: DigestTickets | null;
  closed: DigestTickets | null;
  /** Still open, without those that are snoozed. */
  open: DigestTickets | null;
  /** Of these, those that opened before and that nobody has acknowledged, taken or commented on. */
  untouched: DigestTickets | null;
  /** What will be full, the soonest first. */
  will_be_full: (DigestSeries & { full_at: Date; own_check: ReachedLevel | null })[];
  /** What grows by most in a day, in bytes. */
  grew: (DigestSeries & { bytes_per_day: number })[];
  backups: {
    /** On how many connections one is expected. */
    expected: number;
    overdue: { connection_id: number; connection: string; last: Date | null }[];
    /** The last one failed. */
    failed: { connection_id: number; connection: string; at: Date }[];
  };
}

/** SQL: whether a digest is about a connection. $3 = null: it is about all. */
const isIn = (connectionId: string) => `($3::bigint[] is null or ${connectionId} = any($3))`;

// The last run before the time is found by the index of each connection's runs.
const selectFleet = `
  select a.name, a.plan, now() as until, f.connections, f.now, f.before
    from account a
   cross join lateral (
         select count(*)::int as connections,
                round(avg(c.latest_score))::int as now,
                round(avg(b.score))::int as before
           from connection c
           left join lateral (
                select h.score from health_check h
                 where h.account_id = $1 and h.connection_id = c.connection_id and h.created_at <= $2
                 order by h.created_at desc, h.health_check_id desc
                 limit 1) b on true
          where c.account_id = $1 and c.removed_at is null and ${isIn('c.connection_id')}) f
   where a.account_id = $1`;

const selectTickets = (condition: string) => `
  select count(*) filter (where severity = 'critical')::int as critical,
         count(*) filter (where severity = 'warning')::int as warning,
         count(*) filter (where severity = 'info')::int as info,
         coalesce(jsonb_agg(jsonb_build_object(
                    'id', ticket_id, 'connection_id', connection_id, 'connection', connection, 'severity', severity,
                    'title', title, 'object', object, 'since', since, 'closed_at', closed_at)
                  order by place) filter (where place <= ${NAMED}), '[]') as first
    from (select t.ticket_id, t.connection_id, c.name as connection, t.severity, t.title, t.object,
                 t.first_seen_at as since, t.resolved_at as closed_at,
                 row_number() over (order by ${severityRank('t.severity')}, t.first_seen_at, t.ticket_id) as place
            from ticket t
            join connection c on c.account_id = t.account_id and c.connection_id = t.connection_id
           where t.account_id = $1 and ${isIn('t.connection_id')} and ${condition}) listed`;

const opened = selectTickets('t.first_seen_at > $2');
const closed = selectTickets("t.status = 'resolved' and t.resolved_at > $2");
// As the console lists and counts them: who put a ticket off is not asked about it again before its time.
const open = selectTickets(`
  t.status = 'open' and $2::timestamptz is not null
  and not exists (select from ticket_triage g
                   where g.account_id = $1 and g.ticket_id = t.ticket_id and ${isSnoozed})`);
const untouched = selectTickets(`
  t.status = 'open' and t.first_seen_at <= $2
  and not exists (select from ticket_triage g
                   where g.account_id = $1 and g.ticket_id = t.ticket_id
                     and (g.acknowledged_at is not null or g.assignee_id is not null))
  and not exists (select from ticket_comment m where m.account_id = $1 and m.ticket_id = t.ticket_id)`);

const series = `
    from measure_forecast f
    join measure_series s on s.account_id = $1 and s.connection_id = f.connection_id and s.series_id = f.series_id
    join connection c on c.account_id = $1 and c.connection_id = f.connection_id and c.removed_at is null
   where f.account_id = $1 and $2::timestamptz is not null and ${isIn('f.connection_id')}`;

const selectFull = `
  select f.connection_id, c.name as connection, s.metric, s.database, s.object, f.full_at,
         (select jsonb_build_object('title', o.title, 'level', case when o.critical is null then 'warning' else 'critical' end)
            from own_check o
           where o.account_id = $1 and s.check_id = '${findingId('')}' || o.id) as own_check
  ${series} and f.full_at < now() + interval '${SOON_DAYS} days'
   order by f.full_at, f.connection_id, f.series_id
   limit ${NAMED}`;

const selectGrew = `
  select f.connection_id, c.name as connection, s.metric, s.database, s.object, f.per_day as bytes_per_day
  ${series} and f.full_at is null and f.per_day_low > 0 and s.metric like '%\\_bytes'
   order by f.per_day desc, f.connection_id, f.series_id
   limit ${NAMED}`;

// Judged by what the checks of backups are judged by.
const selectBackups = `
  select c.connection_id, c.name as connection, now() as now, ${backupFacts} as facts
    from connection c
   where c.account_id = $1 and c.removed_at is null and c.backup_expected_seconds > 0
     and $2::timestamptz is not null and ${isIn('c.connection_id')}
   order by c.connection_id`;

interface FleetRow {
  name: string;
  plan: Plan;
  until: Date;
  connections: number;
  now: number | null;
  before: number | null;
}

interface BackupRow {
  connection_id: number;
  connection: string;
  now: Date;
  facts: BackupFacts;
}

const selectConnections = `
  select c.connection_id as id, c.name, ${tagsOfConnection} as tags
    from connection c
   where c.account_id = $1 and c.removed_at is null`;

const EVERYTHING: ConnectionScope = { connection_ids: null, connection_names: null };

/** The connections of a scope that is not every one. */
async function idsIn(read: Read, accountId: number, scope: ConnectionScope): Promise<number[] | null> {
  if (scope.connection_ids === null && scope.connection_names === null) return null;
  const connections = await read<ScopedConnection>(selectConnections, [accountId]);
  return connections.filter((one) => includesConnection(scope, one)).map(({ id }) => id);
}

/** What happened on the databases of an account, or of a scope of it, since `from`. Null if there is no such account. */
export async function readDigest(
  read: Read,
  accountId: number,
  from: Date,
  scope: ConnectionScope = EVERYTHING,
): Promise<Digest | null> {
  const period = [accountId, from, await idsIn(read, accountId, scope)];
  const [fleet] = await read<FleetRow>(selectFleet, period);
  if (!fleet) return null;
  const hasTickets = plansWith('ops.ticket_created').includes(fleet.plan);
  const tickets = async (statement: string) =>
    hasTickets ? toTickets(await read<DigestTickets>(statement, period)) : null;
  return {
    account: { id: accountId, name: fleet.name },
    from,
    until: fleet.until,
    connections: fleet.connections,
    score: { now: fleet.now, before: fleet.before },
    opened: await tickets(opened),
    closed: await tickets(closed),
    open: await tickets(open),
    untouched: await tickets(untouched),
    will_be_full: await read(selectFull, period),
    grew: await read(selectGrew, period),
    backups: toBackups(await read<BackupRow>(selectBackups, period)),
  };
}

function toTickets([row]: readonly DigestTickets[]): DigestTickets {
  if (!row) throw new Error('a count has one row');
  const first = row.first.map(({ since, closed_at, ...ticket }) => ({
    ...ticket,
    since: new Date(since),
    closed_at: closed_at && new Date(closed_at),
  }));
  return { ...row, first };
}

function toBackups(rows: readonly BackupRow[]): Digest['backups'] {
  const judged = rows.map(({ facts, now, ...named }) => {
    const at = (age: number | null) => (age === null ? null : new Date(now.getTime() - age * 1_000));
    const [fault] = judgeAge(facts).faults;
    return { ...named, severity: fault?.severity, last: at(facts.age), failedAt: at(facts.failedAge) };
  });
  const overdue = judged.filter(({ severity }) => severity === 'critical');
  return {
    expected: rows.length,
    overdue: overdue
      .map(({ connection_id, connection, last }) => ({ connection_id, connection, last }))
      .sort((one, other) => Number(one.last) - Number(other.last)),
    failed: judged.flatMap(({ connection_id, connection, severity, failedAt: at }) =>
      severity === 'warning' && at !== null ? [{ connection_id, connection, at }] : [],
    ),
  };
}
