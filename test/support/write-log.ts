import type { TestStore } from './store.ts';

/** The properties of a log to write. */
export interface WrittenLog {
  length: number;
  /** The kind of every tenth entry: an API request, or an event (`health_check_completed`). */
  rare: 'request' | 'event';
  /** The number of days until now over which the entries are spread evenly. */
  days: number;
}

/** Writes a log into a new account whose requests rotate through 5,000 keys. Returns the account's id. */
export async function writeLog(store: TestStore, { length, rare, days }: WrittenLog): Promise<number> {
  const accountId = await store.account();
  await store.writer.query(
    `insert into api_key (account_id, name, hash, last_four, created_at)
     select $1, 'key ' || n, sha256(n::text::bytea), 'abcd', now() from generate_series(1, 5000) n`,
    [accountId],
  );
  await store.writer.query(
    `insert into activity (account_id, id, occurred_at, action_type, page_path, api_key_id, request_id, user_agent,
                           status, method, source_ip, event_number, type_number, properties)
     select $1, id, now() - ($2 - id) * ($4::integer * interval '24 hours' / $2),
            case when event is null then 'api_request' else 'health_check_completed' end, '/api/v1/health/fleet',
            case when event is null then first_key + id % 5000 end, case when event is null then gen_random_uuid() end,
            'curl/8.7.1', case when event is null then 200 end, case when event is null then 'GET' end,
            case when event is null then '192.0.2.7'::inet end, event, event, case when event is not null then '{}'::jsonb end
       from generate_series(1, $2::bigint) id,
            lateral (select case when $3 = 'event' and id % 10 = 0 then id / 10
                                 when $3 = 'request' and id % 10 > 0 then id - id / 10 end as event) e,
            (select min(api_key_id) as first_key from api_key where account_id = $1) k`,
    [accountId, length, rare, days],
  );
  const events = rare === 'event' ? length / 10 : length - length / 10;
  await store.writer.query(
    'update activity_head set last_id = $2, events = $3, last_at = now() where account_id = $1',
    [accountId, length, events],
  );
  await store.writer.query(`insert into activity_type_head values ($1, 'health_check_completed', $2)`, [
    accountId,
    events,
  ]);
  return accountId;
}
