import type pg from 'pg';
import { changeText } from '../../platform/text/change-text.ts';
import { listChanges } from '../../runs/changes/list-changes.ts';
import { inTransaction } from '../../store/connect.ts';
import { one } from '../../store/one.ts';
import type { Read } from '../../store/read.ts';
import type { ChannelFormat, MadeMessage, MessageEvent } from '../channels/channel.ts';
import type { Lease, LeasedDelivery } from './lease-deliveries.ts';

/** Changes that may explain an event. A change of a finding is what the event says. */
const KINDS = [
  'setting',
  'version',
  'restart',
  'failover',
  'extension',
  'standby',
  'table',
  'column',
  'index',
  'constraint',
  'trigger',
  'silence',
  'threshold',
  'check',
];
const DAY_MS = 86_400_000;
const MOST_CHANGES = 5;

/** Makes the messages of channels; null for a webhook. */
export type MakeMessage = NonNullable<ChannelFormat['makeMessage']>;

const selectAccount = 'select name from account where account_id = $1';

const selectMessage = `
  select content_type as "contentType", body
    from delivery_message
   where account_id = $1 and destination_id = $2 and message_id = $3`;

const insertMessage = `
  with made as (
    insert into delivery_message (account_id, destination_id, made_at, content_type, body)
    values ($1, $2, now(), $3, $4)
    returning message_id
  )
  update delivery v
     set message_id = made.message_id
    from made
   where v.account_id = $1
     and v.destination_id = $2
     and v.delivery_id = any($5::bigint[])
     and v.state = 'queued'
     and v.message_id is null`;

/** Another process made the message, or a delivery of it was cancelled. */
class LeaseLost extends Error {}

/**
 * The message of a lease. It is made and stored at the first attempt, and read at each further one, so that all send the
 * same bytes. Null: the lease expired or a delivery was cancelled, and what is left of it is due again later.
 */
export async function messageOf(
  writer: pg.Pool,
  { destination, deliveries }: Lease,
  make: MakeMessage,
  consoleUrl: string,
): Promise<MadeMessage | null> {
  const { accountId, destinationId } = destination;
  const [{ message_id }] = deliveries;
  if (message_id !== null) {
    const { rows } = await writer.query<MadeMessage>(selectMessage, [accountId, destinationId, message_id]);
    return one(rows, 'read a message');
  }
  const { rows } = await writer.query<{ name: string }>(selectAccount, [accountId]);
  const { name: account } = one(rows, 'read the name of an account');
  const events = newestOfEach(deliveries);
  const message = make(await withChanges(writer, accountId, events), { consoleUrl, account });
  try {
    await inTransaction(writer, async (client) => {
      const stored = await client.query(insertMessage, [
        accountId,
        destinationId,
        message.contentType,
        message.body,
        deliveries.map(({ delivery_id }) => delivery_id),
      ]);
      if (stored.rowCount !== deliveries.length) throw new LeaseLost();
    });
  } catch (error) {
    if (error instanceof LeaseLost) return null;
    throw error;
  }
  return message;
}

/** Without what a later event of the same alert or ticket replaces: one that was triggered and resolved is one line. */
function newestOfEach(events: readonly LeasedDelivery[]): LeasedDelivery[] {
  const newest = new Map<string, LeasedDelivery>();
  for (const event of events.toSorted((a, b) => a.sequence - b.sequence)) newest.set(subjectOf(event), event);
  return [...newest.values()];
}

function subjectOf({ alert_id, ticket_id, event_id }: LeasedDelivery): string {
  if (alert_id !== null) return `alert ${alert_id}`;
  return ticket_id === null ? event_id : `ticket ${ticket_id}`;
}

async function withChanges(
  writer: pg.Pool,
  accountId: number,
  events: readonly LeasedDelivery[],
): Promise<MessageEvent[]> {
  const read: Read = async (statement, values) => (await writer.query(statement, values)).rows;
  const made: MessageEvent[] = [];
  for (const event of events) {
    const changes =
      event.connection_id === null
        ? []
        : await listChanges(read, accountId, event.connection_id, {
            from: new Date(event.occurred_at.getTime() - DAY_MS),
            to: event.occurred_at,
            kinds: KINDS,
            limit: MOST_CHANGES,
          });
    made.push({
      ...event,
      changes: changes.map(
        (change) => `${changeText(change)} (${change.at.slice(0, 16).replace('T', ' ')} UTC)`,
      ),
    });
  }
  return made;
}
