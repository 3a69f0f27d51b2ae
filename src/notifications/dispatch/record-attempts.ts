import type pg from 'pg';
import { one } from '../../store/one.ts';
import type { EndedAttempt } from './attempt-delivery.ts';
import { MOST_ATTEMPTS, secondsToRetry } from './retry-schedule.ts';

// Enabling a destination starts the count of attempts again, so their numbers are those of the rows.
// Results with the same destination become one statement. It locks the queue before the deliveries, as everything does that
// needs both. What is lost with the store's last moments is sent again, so it does not wait for the disk.
const record = `
  with queue as materialized (
    select account_id, destination_id, set_config('synchronous_commit', 'off', true)
      from destination_queue
     where account_id = $1 and destination_id = $2
       for update
  ), input as (
    select *
      from unnest($3::bigint[], $4::bool[], $5::float8[], $6::timestamptz[], $7::int[], $8::smallint[], $9::text[],
                  $10::jsonb[], $11::text[], $12::text[])
        as i (delivery_id, accepted, pause, started_at, milliseconds, status, result, headers, response, reason)
  ), tried as (
    update delivery v
       set attempts = v.attempts + 1,
           status = i.status,
           result = i.result,
           state = case when i.accepted then 'accepted' when i.pause is null then 'given_up' else 'queued' end,
           ended_at = case when i.accepted or i.pause is null then clock_timestamp() end,
           reason = case when not i.accepted and i.pause is null then i.reason end,
           due_at = now() + coalesce(i.pause, 0) * interval '1 s'
      from input i, queue
     where v.account_id = queue.account_id
       and v.destination_id = queue.destination_id
       and v.delivery_id = i.delivery_id
       and v.state = 'queued'
    returning v.delivery_id, v.attempts, v.state, v.due_at, i.started_at, i.milliseconds, i.status, i.result, i.headers, i.response
  ), attempt as (
    insert into delivery_attempt (account_id, destination_id, delivery_id, attempt, started_at, milliseconds, status, result,
                                  headers, response)
    select $1, $2, t.delivery_id, coalesce(last.attempt, 0) + 1, t.started_at, t.milliseconds, t.status, t.result, t.headers,
           t.response
      from tried t
     cross join lateral (select max(attempt) as attempt
                           from delivery_attempt a
                          where a.account_id = $1 and a.destination_id = $2 and a.delivery_id = t.delivery_id) last
    on conflict do nothing
  ), changed as (
    update destination_queue q
       set queued = greatest(q.queued - (select count(*) from tried where state <> 'queued'), 0),
           due_at = least(q.due_at, (select min(due_at) from tried where state = 'queued')),
           failing_since = case when (select bool_or(accepted) from input) then null
                                else coalesce(q.failing_since, (select min(started_at) from input)) end,
           last_success_at = coalesce((select max(started_at) from input where accepted), q.last_success_at),
           last_attempt_at = greatest(q.last_attempt_at, (select max(started_at) from input)),
           last_result = (select result from input order by started_at desc limit 1)
      from queue
     where q.account_id = queue.account_id and q.destination_id = queue.destination_id
    returning q.failing_since
  )
  select coalesce((select failing_since < now() - interval '5 days' from changed), false) as "isFailing",
         (select count(*) from tried where state = 'accepted')::int as accepted,
         (select count(*) from tried where state = 'given_up')::int as "givenUp"`;

/** What recording attempts of a destination found. */
export interface RecordedAttempts {
  /** Whether no attempt of the last 5 days succeeded. */
  isFailing: boolean;
  /** How many deliveries ended. */
  accepted: number;
  givenUp: number;
}

/** Records attempts of one destination: how each ended, and when the next one is due. Repeating it records nothing twice. */
export async function recordAttempts(
  writer: pg.Pool,
  attempts: readonly [EndedAttempt, ...EndedAttempt[]],
): Promise<RecordedAttempts> {
  const { accountId, destinationId } = attempts[0].lease.destination;
  const tried = attempts.flatMap(({ lease, startedAt, sent, headers }) =>
    lease.deliveries.map(({ delivery_id, attempts, kind }) => ({
      delivery_id,
      // A person waits for a test's answer, and sends another one.
      pause: sent.accepted || kind === 'test' ? null : secondsToRetry(attempts + 1, sent.retryAfter),
      reason: kind === 'test' ? 'A test is tried once.' : `${MOST_ATTEMPTS} attempts failed.`,
      startedAt,
      sent,
      headers: JSON.stringify(headers),
    })),
  );
  const { rows } = await writer.query<RecordedAttempts>(record, [
    accountId,
    destinationId,
    tried.map(({ delivery_id }) => delivery_id),
    tried.map(({ sent }) => sent.accepted),
    tried.map(({ pause }) => pause),
    tried.map(({ startedAt }) => startedAt),
    tried.map(({ sent }) => Math.round(sent.milliseconds)),
    tried.map(({ sent }) => sent.status),
    tried.map(({ sent }) => sent.result),
    tried.map(({ headers }) => headers),
    tried.map(({ sent }) => sent.response),
    tried.map(({ reason }) => reason),
  ]);
  return one(rows, 'record attempts');
}
