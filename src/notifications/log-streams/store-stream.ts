import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { requireStreamInput, type StreamInput } from './stream-input.ts';

const selectPlan = 'select plan from account where account_id = $1';

// What was pruned can't be sent. Beyond the end of the log begins with the next entry.
const selectFirst = `
  select least(greatest(case when $3::timestamptz is not null then activity_id_at($1, $3) else coalesce($2::bigint, h.last_id + 1) end,
                        coalesce(f.first_id, 1)),
               h.last_id + 1) as id
    from activity_head h
    left join activity_floor f using (account_id)
   where h.account_id = $1`;

const insert = `
  insert into log_stream (account_id, destination_id, format, action_types, excluded_types, actors, next_id, scanned_id, due_at)
  values ($1, $2, $3, $4, $5, $6, $7::bigint, $7::bigint - 1, $8)`;

const update = `
  update log_stream
     set format = coalesce($3, format),
         action_types = case when $4::bool then $5::text[] else action_types end,
         excluded_types = coalesce($6::text[], excluded_types),
         actors = case when $7::bool then $8::text[] else actors end,
         next_id = coalesce($9::bigint, next_id),
         scanned_id = coalesce($9::bigint, next_id) - 1,
         batch_id = null,
         warned_at = case when $9::bigint is null then warned_at end,
         due_at = $10
   where account_id = $1 and destination_id = $2`;

const hasten = 'update log_stream set due_at = $3 where account_id = $1 and destination_id = $2';

/** Adds what a new log stream sends. Throws a `Rejection`, also for a plan that does not include the log. */
export async function addStream(change: Change, destinationId: number, input: StreamInput): Promise<void> {
  const { accountId, client, at } = change;
  requireStreamInput(input);
  const plan = one(
    (await client.query<{ plan: string }>(selectPlan, [accountId])).rows,
    'read the plan',
  ).plan;
  if (plan !== 'enterprise')
    throw invalidParameter(
      'channel',
      'A log stream needs the plan enterprise, which includes the activity log.',
    );
  await client.query(insert, [
    accountId,
    destinationId,
    input.format ?? 'native',
    input.actionTypes ?? null,
    input.excludedTypes ?? [],
    input.actors ?? null,
    await firstId(client, accountId, input),
    at,
  ]);
}

/** Changes what a log stream sends. With a first entry, it sends from there again. Throws a `Rejection`. */
export async function changeStream(change: Change, destinationId: number, input: StreamInput): Promise<void> {
  const { accountId, client, at } = change;
  requireStreamInput(input);
  const moves = input.fromId !== undefined || input.since !== undefined;
  await client.query(update, [
    accountId,
    destinationId,
    input.format ?? null,
    input.actionTypes !== undefined,
    input.actionTypes ?? null,
    input.excludedTypes ?? null,
    input.actors !== undefined,
    input.actors ?? null,
    moves ? await firstId(client, accountId, input) : null,
    at,
  ]);
}

/** Lets a stream try at once. Does nothing for other destinations. */
export async function hastenStream({ accountId, client, at }: Change, destinationId: number): Promise<void> {
  await client.query(hasten, [accountId, destinationId, at]);
}

async function firstId(
  client: pg.ClientBase,
  accountId: number,
  { fromId, since }: StreamInput,
): Promise<number> {
  const { rows } = await client.query<{ id: number }>(selectFirst, [
    accountId,
    fromId ?? null,
    since ?? null,
  ]);
  return one(rows, 'find the first entry of a stream').id;
}
