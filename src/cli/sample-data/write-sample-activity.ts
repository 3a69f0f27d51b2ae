import type pg from 'pg';
import { ENTRY_TICKET } from '../../activity/record-entry.ts';
import { inTransaction } from '../../store/connect.ts';
import type { SampleEvent } from './sample-events.ts';
import type { SampleStep } from './sample-progress.ts';
import type { PlannedRequest, SampleRequest } from './sample-requests.ts';

const lockHead = `
  select last_id, events, (extract(epoch from greatest(last_at, timestamptz 'epoch')) * 1000000)::bigint as last_at
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
      from json_to_recordset($2::json)
        as e (id bigint, at bigint, action_type text, page_path text, properties jsonb)
  ), type_head as (
    insert into activity_type_head as h (account_id, action_type, last_number)
    select $1, action_type, count(*) from event group by action_type order by action_type
    on conflict (account_id, action_type) do update set last_number = h.last_number + excluded.last_number
    returning action_type, last_number
  ), total as (
    select action_type, count(*) as entries from event group by action_type
  )
  insert into activity (account_id, id, occurred_at, action_type, page_path, event_number, type_number, properties, ticket_id)
  select $1, id, timestamptz 'epoch' + at * interval '1 microsecond', action_type, page_path,
         $3::bigint + n, type_head.last_number - total.entries + type_n, properties, ${ENTRY_TICKET}
    from event
    join type_head using (action_type)
    join total using (action_type)`;

const moveHead = `
  update activity_head
     set last_id = $2, events = $3, last_at = timestamptz 'epoch' + $4::bigint * interval '1 microsecond'
   where account_id = $1`;

const ENTRIES_A_TRANSACTION = 20_000;

/**
 * Appends requests and events, each in order of time, to the account's log. Ids continue without a gap. Times are as
 * planned, but later than entries logged meanwhile. Each transaction leaves the log consistent, so it may be
 * interrupted.
 */
export async function writeActivity(
  writer: pg.Pool,
  accountId: number,
  entries: { requests: Iterable<PlannedRequest>; events: Iterable<SampleEvent> },
  kinds: readonly (SampleRequest & { apiKeyId: number })[],
  { all, step }: { all: number; step: SampleStep },
): Promise<number> {
  const merged = merge(entries.requests, entries.events);
  let written = 0;
  for (;;) {
    const chunk = [...take(merged, ENTRIES_A_TRANSACTION)];
    if (chunk.length === 0) return written;
    await inTransaction(writer, (client) => appendChunk(client, accountId, chunk, kinds));
    written += chunk.length;
    step(written, all);
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
  const requests: { ids: number[]; instants: number[]; kinds: number[] } = {
    ids: [],
    instants: [],
    kinds: [],
  };
  const events: object[] = [];
  chunk.forEach((entry, n) => {
    const id = head.last_id + n + 1;
    last = Math.max(entry.at, last + 1);
    if ('kind' in entry) {
      requests.ids.push(id);
      requests.instants.push(last);
      requests.kinds.push(entry.kind + 1);
    } else {
      const { actionType: action_type, pagePath: page_path, properties } = entry;
      events.push({ id, at: last, action_type, page_path, properties });
    }
  });
  if (requests.ids.length > 0) {
    await client.query(insertRequests, [
      accountId,
      ...[requests.ids, requests.instants, requests.kinds].map(integers),
      kinds.map(({ apiKeyId }) => apiKeyId),
      kinds.map(({ path }) => path),
      kinds.map(({ status }) => status),
      kinds.map(({ error_code }) => error_code),
      kinds.map(({ query }) => JSON.stringify(query)),
      kinds.map(({ source_ip }) => source_ip),
      kinds.map(({ user_agent }) => user_agent),
    ]);
  }
  if (events.length > 0) await client.query(insertEvents, [accountId, JSON.stringify(events), head.events]);
  await client.query(moveHead, [accountId, head.last_id + chunk.length, head.events + events.length, last]);
}

/** Formats an array for PostgreSQL. node-postgres would quote each number, which takes longer than inserting it. */
function integers(list: readonly number[]): string {
  return `{${list.join(',')}}`;
}

function* merge(
  requests: Iterable<PlannedRequest>,
  events: Iterable<SampleEvent>,
): Generator<PlannedRequest | SampleEvent> {
  const eventIterator = events[Symbol.iterator]();
  let event = eventIterator.next();
  for (const request of requests) {
    for (; !event.done && event.value.at <= request.at; event = eventIterator.next()) yield event.value;
    yield request;
  }
  for (; !event.done; event = eventIterator.next()) yield event.value;
}

function* take<T>(items: Generator<T>, count: number): Generator<T> {
  for (let n = 0; n < count; n++) {
    const { value, done } = items.next();
    if (done) return;
    yield value;
  }
}
