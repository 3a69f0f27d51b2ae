import type pg from 'pg';
import type { Catalogue } from './command.ts';
import { outcomesOf, type SampleConnection } from './sample-fleet.ts';

/** The instants of a history, in microseconds since 1970. */
export interface History {
  start: number;
  end: number;
}

/** An entry that tells of sample data; `at` in microseconds since 1970. */
export interface SampleEvent {
  at: number;
  actionType: 'connection_added' | 'health_check_completed' | 'ticket_opened' | 'ticket_resolved';
  pagePath: string;
  properties: Record<string, unknown>;
}

// No schedule row: nothing monitors a sample connection, whose host does not exist.
const insertConnections = `
  insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
  select $1, name, 'postgres', 'direct', host, 5432, 'app', 'dbvitals', 'verify-full',
         timestamptz 'epoch' + $4::bigint * interval '1 microsecond'
    from unnest($2::text[], $3::text[]) with ordinality as c (name, host, n)
   order by n
  returning connection_id as id`;

const insertRuns = `
  insert into health_check (account_id, connection_id, score, summary_text, created_at, findings)
  select $1, connection_id, score, summary_text,
         timestamptz 'epoch' + r.at * interval '1 microsecond', findings
    from unnest($2::bigint[], $3::bigint[], $4::int[]) with ordinality as r (connection_id, at, state, n)
    join unnest($5::int[], $6::text[], $7::jsonb[]) with ordinality as s (score, summary_text, findings, state)
      using (state)
   order by r.n
  returning health_check_id as id`;

const setLatest = `
  update connection c
     set latest_check_id = latest.id
    from unnest($2::bigint[], $3::bigint[]) as latest (connection_id, id)
   where c.account_id = $1 and c.connection_id = latest.connection_id`;

const insertTickets = `
  insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status,
                      metric_line, remediation, first_seen_at, last_seen_at, resolved_at, resolution)
  select $1, connection_id, check_id, database, object, category, title, severity,
         case when resolved is null then 'open' else 'resolved' end, metric_line, remediation,
         timestamptz 'epoch' + first_seen * interval '1 microsecond',
         timestamptz 'epoch' + last_seen * interval '1 microsecond',
         timestamptz 'epoch' + resolved * interval '1 microsecond',
         case when resolved is not null then 'no longer found' end
    from rows from (jsonb_to_recordset($2::jsonb)
      as (connection_id bigint, check_id text, database text, object text, category text, title text, severity text,
          metric_line text, remediation text, first_seen bigint, last_seen bigint, resolved bigint))
      with ordinality as t (connection_id, check_id, database, object, category, title, severity,
          metric_line, remediation, first_seen, last_seen, resolved, n)
   order by n
  returning ticket_id as id`;

const RUNS_A_STATEMENT = 1_000;
const TICKETS_A_STATEMENT = 5_000;

/** Writes the connections with all their runs and tickets, and gives the entries that tell of them, by time. */
export async function writeFleet(
  client: pg.ClientBase,
  accountId: number,
  fleet: readonly SampleConnection[],
  { start, end }: History,
  catalogue: Catalogue,
): Promise<SampleEvent[]> {
  const instant = (share: number) => Math.round(start + share * (end - start));
  const names = [fleet.map(({ name }) => name), fleet.map(({ host }) => host)];
  const added = await client.query<{ id: number }>(insertConnections, [accountId, ...names, start]);
  const known = fleet.map((connection, n) => ({ ...connection, id: added.rows[n]?.id ?? 0 }));
  const events = known.map(
    ({ id, name, host }): SampleEvent => ({
      at: start,
      actionType: 'connection_added',
      pagePath: `/settings/connections/${id}`,
      properties: { connection_id: id, name, host, port: 5432, connection_type: 'direct' },
    }),
  );
  for (const batch of batches(known, Math.ceil(RUNS_A_STATEMENT / (known[0]?.runs.length ?? 1)))) {
    events.push(...(await writeRuns(client, accountId, batch, instant, catalogue)));
  }
  const tickets = known
    .flatMap((connection) => connection.tickets.map((ticket) => ticketRow(connection, ticket, instant)))
    .sort((a, b) => a.first_seen - b.first_seen);
  for (const batch of batches(tickets, TICKETS_A_STATEMENT)) {
    const { rows } = await client.query<{ id: number }>(insertTickets, [accountId, JSON.stringify(batch)]);
    events.push(...batch.flatMap((ticket, n) => ticketEvents(ticket, rows[n]?.id ?? 0)));
  }
  return events.sort((a, b) => a.at - b.at);
}

type KnownConnection = SampleConnection & { id: number };

async function writeRuns(
  client: pg.ClientBase,
  accountId: number,
  connections: readonly KnownConnection[],
  instant: (share: number) => number,
  catalogue: Catalogue,
): Promise<SampleEvent[]> {
  const states: { score: number; summary: string; findings: string }[] = [];
  const runs: { connectionId: number; at: number; state: number; score: number }[] = [];
  for (const connection of connections) {
    const changes = new Set(connection.tickets.flatMap(({ first, end }) => [first, end]));
    connection.runs.forEach((share, run) => {
      if (run === 0 || changes.has(run)) {
        const outcomes = outcomesOf(connection, run, catalogue.checks);
        states.push({
          score: catalogue.score(outcomes),
          summary: catalogue.summaryText(outcomes),
          findings: JSON.stringify(worstFirst(outcomes.flatMap(({ findings }) => findings))),
        });
      }
      const score = states.at(-1)?.score ?? 0;
      runs.push({ connectionId: connection.id, at: instant(share), state: states.length, score });
    });
  }
  const { rows } = await client.query<{ id: number }>(insertRuns, [
    accountId,
    runs.map(({ connectionId }) => connectionId),
    runs.map(({ at }) => at),
    runs.map(({ state }) => state),
    states.map(({ score }) => score),
    states.map(({ summary }) => summary),
    states.map(({ findings }) => findings),
  ]);
  const latest = new Map(runs.map(({ connectionId }, n) => [connectionId, rows[n]?.id ?? 0]));
  await client.query(setLatest, [accountId, [...latest.keys()], [...latest.values()]]);
  return runs.map(({ connectionId, at, score }, n) => ({
    at,
    actionType: 'health_check_completed',
    pagePath: `/health/connections/${connectionId}`,
    properties: { connection_id: connectionId, score, health_check_id: rows[n]?.id ?? 0 },
  }));
}

const WORST_FIRST = ['critical', 'warning', 'info', 'ok'];

function worstFirst<Finding extends { status: string }>(findings: Finding[]): Finding[] {
  return findings.sort((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status));
}

function ticketRow(
  { id, runs }: KnownConnection,
  { finding, first, end }: SampleConnection['tickets'][number],
  instant: (share: number) => number,
) {
  return {
    ...finding,
    connection_id: id,
    first_seen: instant(runs[first] ?? 0),
    last_seen: instant(runs[(end ?? runs.length) - 1] ?? 0),
    resolved: end === null ? null : instant(runs[end] ?? 1),
  };
}

function ticketEvents(ticket: ReturnType<typeof ticketRow>, id: number): SampleEvent[] {
  const { connection_id, check_id, severity, title, first_seen, resolved } = ticket;
  const properties = { ticket_id: id, connection_id, check_id, severity, title };
  const pagePath = `/ops/tickets/${id}`;
  const opened: SampleEvent = { at: first_seen, actionType: 'ticket_opened', pagePath, properties };
  if (resolved === null) return [opened];
  const resolution_hours = Math.round((resolved - first_seen) / 36_000_000) / 100;
  const told = { ...properties, reason: 'no longer found', resolution_hours };
  return [opened, { at: resolved, actionType: 'ticket_resolved', pagePath, properties: told }];
}

function batches<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, n) =>
    list.slice(n * size, (n + 1) * size),
  );
}
