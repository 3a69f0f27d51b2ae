import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { cleanText } from '../../platform/text/clean-text.ts';
import { isHeard } from '../../store/sql/collector-contact.sql.ts';
import type { ConnectionKey } from '../monitor-deps.ts';
import type { PulseAnswer } from '../pulse/held-session.ts';
import type { PulseReading } from '../pulse/reading/pulse-reading.ts';
import type { CollectorKey } from './claim-collected.ts';

/** What a collector answers to a look. A deadlock is an event of the pulse. */
export type CollectedAnswer = { reading: PulseReading } | Extract<PulseAnswer, { failure: unknown }>;

/** For so long a collector looks after a person was there last, in seconds. */
const WATCHED_SECONDS = 15;

const PATIENCE_MS = 10_000;
const POLL_MS = 250;

const want = `
  update collected_connection m
     set look_until = now() + interval '${WATCHED_SECONDS} s'
    from collector o
   where m.account_id = $1 and m.connection_id = $2
     and o.account_id = m.account_id and o.collector_id = m.collector_id
  returning o.name, ${isHeard('o')} and o.revoked_at is null as "isConnected", m.looked_at as "lookedAt"`;

const read = `
  select look, looked_at as "lookedAt"
    from collected_connection
   where account_id = $1 and connection_id = $2`;

/** Looks at a connection through its collector: waits for an answer that is newer than this question. Never throws for the collector. */
export async function lookThroughCollector(
  writer: pg.Pool,
  { accountId, connectionId }: ConnectionKey,
): Promise<PulseAnswer> {
  const key = [accountId, connectionId];
  const { rows } = await writer.query<{ name: string; isConnected: boolean; lookedAt: Date | null }>(
    want,
    key,
  );
  const [asked] = rows;
  if (!asked) return failure('no collector measures this connection any more');
  const { name, isConnected, lookedAt } = asked;
  if (!isConnected) return failure(`collector ${name}, which measures this connection, is not connected`);
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const [last] = (await writer.query<{ look: CollectedAnswer | null; lookedAt: Date | null }>(read, key))
      .rows;
    if (last?.look && last.lookedAt && last.lookedAt.getTime() > (lookedAt?.getTime() ?? 0)) return last.look;
    await wait(POLL_MS);
  }
  return failure(`collector ${name} has not answered`);
}

function failure(reason: string): PulseAnswer {
  return { failure: { kind: 'unread', reason: cleanText(reason, 300) } };
}

const wanted = `
  select m.name
    from collected_connection m
    join connection c using (account_id, connection_id)
   where m.account_id = $1 and m.collector_id = $2 and m.look_until > now() and c.removed_at is null
     and m.name <> all ($3)
   limit 50`;

/** The connections of a collector that somebody watches, and that it does not look at yet. */
export async function listWantedLooks(
  writer: pg.Pool,
  { accountId, collectorId }: CollectorKey,
  looking: readonly string[],
): Promise<string[]> {
  const { rows } = await writer.query<{ name: string }>(wanted, [accountId, collectorId, looking]);
  return rows.map(({ name }) => name);
}

const store = `
  update collected_connection m
     set look = $4, looked_at = now()
    from collector o, connection c
   where m.account_id = $1 and m.collector_id = $2 and m.name = $3
     and m.look_until > now()
     and o.account_id = m.account_id and o.collector_id = m.collector_id and o.revoked_at is null
     and c.account_id = m.account_id and c.connection_id = m.connection_id and c.removed_at is null`;

/** Stores the answer to a look. False if nobody watches any more. */
export async function storeLook(
  writer: pg.Pool,
  { accountId, collectorId }: CollectorKey,
  { connection, answer }: { connection: string; answer: CollectedAnswer },
): Promise<boolean> {
  const values = [accountId, collectorId, connection, JSON.stringify(acceptAnswer(answer))];
  return (await writer.query(store, values)).rowCount === 1;
}

const NAME = 200;

/** All texts as those of a reading: cleaned and cut. */
function acceptAnswer(answer: CollectedAnswer): CollectedAnswer {
  return JSON.parse(JSON.stringify(answer), (_key, value: unknown) =>
    typeof value === 'string' ? cleanText(value, NAME) : value,
  );
}
