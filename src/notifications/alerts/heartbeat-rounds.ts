import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { SecretKeys } from '../../platform/encryption.ts';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { errorFields, isStoreFailure } from '../../store/store-failure.ts';
import { heartbeat } from '../channels/heartbeat.ts';
import { openDestination } from '../destinations/open-destination.ts';
import type { Send, SendResult } from '../sending/outgoing.ts';

/** What heartbeats need. */
export interface Heartbeats {
  /** A pool of the writer's role. */
  writer: pg.Pool;
  secret: SecretKeys;
  send: Send;
  log: Pick<Logger, 'error' | 'isLevelEnabled'>;
  measure: { attempted(channel: 'heartbeat', outcome: 'accepted' | 'failed'): void };
}

// A beat is due a minute after the one before. Looking for it every 5 s makes it at most 5 s late.
const LOOK_MS = 5_000;
const GRACE_MS = 3_000;
/** At most so many requests at a time: what is left is due in the next round. */
const AT_ONCE = 50;

// Exactly one process sends a beat: taking it counts as the attempt. The monitor works if each of the account's scheduled
// connections was checked within three intervals and 5 minutes, or was added since.
const takeBeats = `
  with due as (
    select q.account_id, q.destination_id
      from destination d
      join destination_queue q using (account_id, destination_id)
     where d.channel = 'heartbeat' and d.state = 'enabled' and d.removed_at is null
       and (q.last_attempt_at is null or q.last_attempt_at <= now() - $2 * interval '1 ms')
       and not exists (select from connection_schedule s
                         join connection c using (account_id, connection_id)
                         left join health_check h
                           on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
                        where s.account_id = d.account_id and c.removed_at is null
                          and coalesce(h.created_at, c.created_at) < now() - 3 * s.every - interval '5 min')
       and ${mayStartWork('q.account_id')}
     order by q.last_attempt_at nulls first
     limit $1
       for update of q skip locked
  )
  update destination_queue q
     set last_attempt_at = clock_timestamp()
    from due
   where q.account_id = due.account_id and q.destination_id = due.destination_id
  returning q.account_id as "accountId", q.destination_id as "destinationId"`;

// No delivery and no attempt is stored: 1,440 a day say nothing that the last one does not.
const storeResult = `
  update destination_queue
     set last_result = $3,
         last_success_at = case when $4 then clock_timestamp() else last_success_at end,
         failing_since = case when $4 then null else coalesce(failing_since, last_attempt_at) end
   where account_id = $1 and destination_id = $2`;

interface Beat {
  accountId: number;
  destinationId: number;
}

/**
 * Asks the URL of each heartbeat once a minute while the monitor works for its account, so that silence pages somebody. Any
 * number of processes may do so. A beat that fails is not repeated: the next one comes in a minute.
 */
export function startHeartbeats(options: Heartbeats, times = { look: LOOK_MS, every: 60_000 }): Rounds {
  const { writer, log } = options;
  const sending = new Set<Promise<void>>();
  let isAway = false;
  const rounds = startRounds(
    async () => {
      try {
        for (const beat of await takeDueBeats(writer, AT_ONCE - sending.size, times.every)) {
          const sent = sendBeat(options, beat).finally(() => sending.delete(sent));
          sending.add(sent);
        }
        isAway = false;
      } catch (error) {
        if (!isAway) log.error(errorFields(error, log), 'heartbeats stop while the store does not answer');
        isAway = true;
      }
    },
    { first: times.look, every: times.look },
  );
  return {
    async stop() {
      await rounds.stop();
      const ended = new AbortController();
      const grace = wait(GRACE_MS, undefined, { signal: ended.signal }).catch(() => {});
      await Promise.race([Promise.all(sending), grace]);
      ended.abort();
    },
  };
}

/** Takes the beats that are due, at most `most`, so that no other process sends them. */
export async function takeDueBeats(writer: pg.Pool, most: number, every = 60_000): Promise<Beat[]> {
  if (most <= 0) return [];
  return (await writer.query<Beat>(takeBeats, [most, every])).rows;
}

/** Never throws: a failure is the result of the beat, or an error of the store in the log. */
async function sendBeat(options: Heartbeats, beat: Beat): Promise<void> {
  const { writer, log, measure } = options;
  try {
    const sent = await requestBeat(options, beat);
    if (sent === null) return;
    measure.attempted('heartbeat', sent.accepted ? 'accepted' : 'failed');
    await writer.query(storeResult, [beat.accountId, beat.destinationId, sent.result, sent.accepted]);
  } catch (error) {
    log.error({ ...beat, ...errorFields(error, log) }, 'a heartbeat could not be sent');
    if (isStoreFailure(error) || !(error instanceof Error)) return;
    const values = [beat.accountId, beat.destinationId, error.message, false];
    await writer.query(storeResult, values).catch(() => {}); // the round reports that the store is away
  }
}

async function requestBeat({ writer, secret, send }: Heartbeats, beat: Beat): Promise<SendResult | null> {
  const destination = await openDestination(writer, secret, beat.accountId, beat.destinationId);
  if (!destination) return null;
  const at = Math.floor(Date.now() / 1_000);
  const envelope = { contentType: 'text/plain', body: '', eventId: `beat_${at}`, epoch: '', sequence: 0, at };
  return send(await heartbeat.request(destination, envelope));
}
