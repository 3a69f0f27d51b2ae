import type pg from 'pg';
import { inTransaction } from '../database/connect.ts';
import type { SampleRequest } from './sample-requests.ts';
import type { SampleEvent } from './write-sample-fleet.ts';

/** A request in the log to be: when, in microseconds since 1970, and which of the kinds of request. */
export interface PlannedRequest {
  at: number;
  kind: number;
}

const lockHead = `
  select last_id, events, (extract(epoch from last_at) * 1000000)::bigint as last_at
    from activity_head
   where account_id = $1
     for update`;

const insertRequests = `
  insert into activity (account_id, id, occurred_at, action_type, page_path, request_id, api_key_id, status, method,
                        error_code, query, source_ip, user_agent)
  select $1, r.id, timestamptz 'epoch' + r.at * interval '1 microsecond', 'api_request', k.path,
         md5('dbvitals sample ' || $1::bigint || ' ' || r.id)::uuid, k.api_key_id, k.status, 'GET',
         k.error_code, k.query, k.source_ip, k.user_agent
    from unnest($2::bigint[], $3::bigint[], $4::int[]) as r (id, at, kind)
    join unnest($5::bigint[], $6::text[], $7::smallint[], $8::text[], $9::jsonb[], $10::inet[], $11::text[])
           with ordinality as k (api_key_id, path, status, error_code, query, source_ip, user_agent, kind)
      using (kind)`;

const insertEvents = `
  with event as (
    select e.*, row_number() over (order by id) as n, row_number() over (partition by action_type order by id) as type_n
      from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::jsonb[])
        as e (id, at, action_type, page_path, properties)
  ), type_head as (
    insert into activity_type_head as h (account_id, action_type, last_number)
    select $1, action_type, count(*) from event group by action_type order by action_type
    on conflict (account_id, action_type) do update set last_number = h.last_number + excluded.last_number
    returning action_type, last_number
  ), total as (
    select action_type, count(*) as entries from event group by action_type
  )
  insert into activity (account_id, id, occurred_at, action_type, page_path, event_number, type_number, properties)
  select $1, id, timestamptz 'epoch' + at * interval '1 microsecond', action_type, page_path,
         $7::bigint + n, type_head.last_number - total.entries + type_n, properties
    from event
    join type_head using (action_type)
    join total using (action_type)`;

const moveHead = `
  update activity_head
     set last_id = $2, events = $3, last_at = timestamptz 'epoch' + $4::bigint * interval '1 microsecond'
   where account_id = $1`;

const ENTRIES_A_TRANSACTION = 20_000; // measured: 0.1 s, for which the account's own requests wait

/**
 * Appends requests and events, each in order of time, to the account's log: ids go on without a gap, times as planned,
 * but after what was logged meanwhile. Each transaction leaves the log whole, so it may be interrupted.
 */
export async function writeActivity(
  writer: pg.Pool,
  accountId: number,
  requests: Iterable<PlannedRequest>,
  events: readonly SampleEvent[],
  kinds: readonly (SampleRequest & { apiKeyId: number })[],
): Promise<number> {
  const entries = merge(requests, events);
  let written = 0;
  for (;;) {
    const chunk = [...take(entries, ENTRIES_A_TRANSACTION)];
    if (chunk.length === 0) return written;
    await inTransaction(writer, (client) => appendChunk(client, accountId, chunk, kinds));
    written += chunk.length;
  }
}

async function appendChunk(
  client: pg.ClientBase,
  accountId: number,
  chunk: readonly (PlannedRequest | SampleEvent)[],
  kinds: readonly (SampleRequest & { apiKeyId: number })[],
): Promise<void> {
  const { rows } = await client.query<{ last_id: number; events: number; last_at: number }>(lockHead, [
    accountId,
  ]);
  const [head] = rows;
  if (head === undefined) throw new Error(`There is no account ${accountId}.`);
  let last = head.last_at;
  const placed = chunk.map((entry, n) => {
    last = Math.max(entry.at, last + 1);
    return { entry, id: head.last_id + n + 1, at: last };
  });
  const requests = placed.flatMap(({ entry, id, at }) =>
    'kind' in entry ? [{ id, at, kind: entry.kind + 1 }] : [],
  );
  const events = placed.flatMap(({ entry, id, at }) => ('kind' in entry ? [] : [{ ...entry, id, at }]));
  await client.query(insertRequests, [
    accountId,
    requests.map(({ id }) => id),
    requests.map(({ at }) => at),
    requests.map(({ kind }) => kind),
    kinds.map(({ apiKeyId }) => apiKeyId),
    kinds.map(({ path }) => path),
    kinds.map(({ status }) => status),
    kinds.map(({ error_code }) => error_code),
    kinds.map(({ query }) => JSON.stringify(query)),
    kinds.map(({ source_ip }) => source_ip),
    kinds.map(({ user_agent }) => user_agent),
  ]);
  await client.query(insertEvents, [
    accountId,
    events.map(({ id }) => id),
    events.map(({ at }) => at),
    events.map(({ actionType }) => actionType),
    events.map(({ pagePath }) => pagePath),
    events.map(({ properties }) => JSON.stringify(properties)),
    head.events,
  ]);
  await client.query(moveHead, [accountId, head.last_id + chunk.length, head.events + events.length, last]);
}

function* merge(
  requests: Iterable<PlannedRequest>,
  events: readonly SampleEvent[],
): Generator<PlannedRequest | SampleEvent> {
  let next = 0;
  for (const request of requests) {
    for (let event = events[next]; event !== undefined && event.at <= request.at; event = events[++next])
      yield event;
    yield request;
  }
  yield* events.slice(next);
}

function* take<T>(items: Generator<T>, count: number): Generator<T> {
  for (let n = 0; n < count; n++) {
    const { value, done } = items.next();
    if (done) return;
    yield value;
  }
}
