import type pg from 'pg';
import type { Logger } from 'pino';
import { eachAccount } from '../../activity/each-account.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { within } from '../../store/read.ts';
import { errorFields } from '../../store/store-failure.ts';
import type { ConnectionScope } from '../connection-scope.ts';
import { queueEvents } from '../outbox/queue-events.ts';
import { digestEvent } from './digest-event.ts';
import { type DigestSchedule, nextDigest, previousDigest } from './digest-schedule.ts';
import { readDigest } from './read-digest.ts';

/** What rounds of digests need. */
export interface DigestRounds {
  /** A pool of the writer's role. */
  writer: pg.Pool;
  log: Pick<Logger, 'error' | 'isLevelEnabled'>;
  /** Called when a round failed. */
  failed?: (work: 'digests') => void;
}

/** A digest covers at most so many days, however long no service ran. */
const MOST_DAYS = 31;
const DAY_MS = 86_400_000;

interface DueDigest extends ConnectionScope {
  account_id: number;
  destination_id: number;
  due_at: Date;
  digest: DigestSchedule;
  is_enabled: boolean;
}

const selectDue = `
  select q.account_id, q.destination_id, q.digest_due_at as due_at, d.digest, d.connection_ids, d.connection_names,
         d.state = 'enabled' as is_enabled
    from destination_queue q
    join destination d using (account_id, destination_id)
   where q.digest_due_at <= now() and d.digest is not null and d.removed_at is null
     and ${mayStartWork('q.account_id')}
   order by q.digest_due_at`;

// Of two processes that read a digest, one moves the time on, under the lock of the account.
const moveOn = `
  update destination_queue q
     set digest_due_at = $4
    from destination d
   where d.account_id = $1 and d.destination_id = $2 and (d.state = 'enabled') = $5 and d.digest is not null and d.removed_at is null
     and q.account_id = d.account_id and q.destination_id = d.destination_id and q.digest_due_at = $3`;

/**
 * Queues the digests that are due, once a minute, each exactly once. Any number of processes may do so. What an outage delays is
 * sent after it, as one digest since the last. A destination that is not enabled gets none.
 */
export function startDigestRounds(
  { writer, log, failed }: DigestRounds,
  times = { first: 5_000, every: 60_000 },
): Rounds {
  return startRounds(async (signal) => {
    try {
      await digestRound(writer, signal);
    } catch (error) {
      log.error(errorFields(error, log), 'a digest could not be made; the next round tries again');
      failed?.('digests');
    }
  }, times);
}

/** One round over all accounts. One that fails does not keep the others from their digests: its error is thrown after them. */
export async function digestRound(
  writer: pg.Pool,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { rows } = await writer.query<DueDigest>(selectDue);
  const due = Map.groupBy(rows, ({ account_id }) => account_id);
  await eachAccount([...due.keys()], async (accountId) => {
    for (const one of due.get(accountId) ?? []) {
      if (signal.aborted) return;
      await queueDigest(writer, one);
    }
  });
}

/** The digest is composed before the account is locked, so that its requests do not wait for it. */
async function queueDigest(writer: pg.Pool, due: DueDigest): Promise<void> {
  const { account_id: accountId, destination_id: destinationId, due_at, digest: schedule, is_enabled } = due;
  const from = new Date(
    Math.max(previousDigest(schedule, due_at).getTime(), Date.now() - MOST_DAYS * DAY_MS),
  );
  const digest = is_enabled ? await readDigest(within(writer), accountId, from, due) : null;
  const event = digest && digestEvent(digest, schedule.time_zone, destinationId);
  await changeAccount(writer, accountId, async ({ client, at }) => {
    const next = nextDigest(schedule, new Date(at));
    const moved = await client.query(moveOn, [accountId, destinationId, due_at, next, is_enabled]);
    if (moved.rowCount === 1 && event !== null) await queueEvents(client, { accountId, at }, [event]);
  });
}
