import type pg from 'pg';
import { notFound } from '../../platform/rejection.ts';
import { type Read, within } from '../../store/read.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import { type EventKind, plansWith } from '../../vocabulary/event-kinds.ts';
import type { Plan } from '../../vocabulary/plans.ts';
import type { Severity } from '../../vocabulary/severities.ts';
import type { DigestSchedule } from '../digest/digest-schedule.ts';
import type { StreamFormat } from '../log-streams/stream-input.ts';
import { BEHIND_ENTRIES, BEHIND_SECONDS } from '../log-streams/stream-lag.ts';
import type { QuietHours } from '../maintenance/quiet-hours.ts';

/** Whether a destination gets messages. `paused` = restored from a backup. */
export type DestinationState = 'enabled' | 'disabled' | 'paused';

/** A recipient of an e-mail destination. Only confirmed ones get messages. */
interface Recipient {
  email: string;
  state: 'unconfirmed' | 'confirmed' | 'unsubscribed';
  asked_at: Date | null;
  confirmed_at: Date | null;
}

/** A destination as the commands and the console show it: without its secrets. */
export interface DestinationRow {
  id: number;
  name: string;
  channel: Channel;
  /** The origin of its URL; the recipients of e-mail. */
  target: string;
  settings: Readonly<Record<string, unknown>>;
  kinds: EventKind[];
  /** The chosen kinds that the account's plan does not include. They are sent once it does. */
  kinds_not_in_plan: EventKind[];
  minimum_severity: Severity | null;
  /** A connection passes that is in `ids` or whose name matches one of `names`; both null = every connection. */
  connections: { ids: number[] | null; names: string[] | null };
  requests_per_second: number;
  quiet_hours: QuietHours | null;
  /** When it gets a digest; null = never. */
  digest: DigestSchedule | null;
  /** When it gets the next one. */
  next_digest_at: Date | null;
  state: DestinationState;
  state_reason: string | null;
  state_since: Date;
  created_at: Date;
  queue: {
    queued: number;
    dropped: number;
    last_sequence: number;
    epoch: string;
    failing_since: Date | null;
    last_success_at: Date | null;
    last_attempt_at: Date | null;
    last_result: string | null;
  };
  recipients: Recipient[];
  /** Null for a destination that gets events. */
  stream: StreamState | null;
}

/** What a log stream sends, and how far it is. */
export interface StreamState {
  format: StreamFormat;
  /** Null = all. */
  action_types: string[] | null;
  excluded_types: string[];
  /** Types of actors; null = all. */
  actors: string[] | null;
  /** The first entry that was not delivered. */
  next_id: number;
  /** How many entries it is behind the log, and the age of the first of them in seconds. */
  behind_entries: number;
  behind_seconds: number;
  /** Entries that were accepted. */
  entries: number;
  delivered_at: string | null;
}

interface StoredRow
  extends Omit<DestinationRow, 'connections' | 'queue' | 'recipients' | 'kinds_not_in_plan'> {
  plan: Plan;
  connection_ids: number[] | null;
  connection_names: string[] | null;
  queued: number;
  dropped: number;
  last_sequence: number;
  epoch: string;
  failing_since: Date | null;
  last_success_at: Date | null;
  last_attempt_at: Date | null;
  last_result: string | null;
}

const streamState = `
  (select jsonb_build_object('format', s.format, 'action_types', s.action_types, 'excluded_types', s.excluded_types,
            'actors', s.actors, 'next_id', s.next_id, 'behind_entries', ${BEHIND_ENTRIES}, 'behind_seconds', ${BEHIND_SECONDS},
            'entries', s.entries, 'delivered_at', s.delivered_at)
     from log_stream s
     join activity_head h using (account_id)
    where s.account_id = d.account_id and s.destination_id = d.destination_id)`;

const select = `
  select d.destination_id as id, d.name, d.channel, d.target, d.settings, d.kinds, d.minimum_severity, d.connection_ids,
         d.connection_names, d.requests_per_second, d.quiet_hours, d.digest, q.digest_due_at as next_digest_at, d.state, d.state_reason, d.state_since, d.created_at,
         a.plan, q.queued, q.dropped, q.last_sequence, q.epoch, q.failing_since, q.last_success_at, q.last_attempt_at,
         q.last_result, ${streamState} as stream
    from destination d
    join account a on a.account_id = d.account_id
    join destination_queue q on q.account_id = d.account_id and q.destination_id = d.destination_id
   where d.account_id = $1 and d.removed_at is null and ($2::bigint is null or d.destination_id = $2)
   order by d.destination_id`;

const selectRecipients = `
  select destination_id, email, state, asked_at, confirmed_at
    from destination_recipient
   where account_id = $1 and removed_at is null and ($2::bigint is null or destination_id = $2)
   order by destination_id, email`;

/** The account's destinations without removed ones, ordered by id. Works as the console's role too. */
export function listDestinations(read: Read, accountId: number): Promise<DestinationRow[]> {
  return rowsOf(read, accountId, null);
}

/** A destination of the account. Throws `notFound`. */
export async function readDestination(
  read: Read,
  accountId: number,
  destinationId: number,
): Promise<DestinationRow> {
  const [row] = await rowsOf(read, accountId, destinationId);
  if (!row) throw notFound('destination', destinationId, ': see "destination list".');
  return row;
}

async function rowsOf(read: Read, accountId: number, id: number | null): Promise<DestinationRow[]> {
  const [rows, recipients] = await Promise.all([
    read<StoredRow>(select, [accountId, id]),
    read<Recipient & { destination_id: number }>(selectRecipients, [accountId, id]),
  ]);
  const own = Map.groupBy(recipients, ({ destination_id }) => destination_id);
  return rows.map((row) => shownOf(row, own.get(row.id) ?? []));
}

function shownOf(
  { plan, connection_ids, connection_names, stream, ...row }: StoredRow,
  recipients: readonly Recipient[],
): DestinationRow {
  const { id, name, channel, target, settings, kinds, minimum_severity, requests_per_second, quiet_hours } =
    row;
  const {
    digest,
    next_digest_at,
    state,
    state_reason,
    state_since,
    created_at,
    queued,
    dropped,
    last_sequence,
    epoch,
  } = row;
  const { failing_since, last_success_at, last_attempt_at, last_result } = row;
  return {
    id,
    name,
    channel,
    target,
    settings,
    kinds,
    kinds_not_in_plan: kinds.filter((kind) => !plansWith(kind).includes(plan)),
    minimum_severity,
    connections: { ids: connection_ids, names: connection_names },
    requests_per_second,
    quiet_hours,
    digest,
    next_digest_at,
    state,
    state_reason,
    state_since,
    created_at,
    queue: {
      queued,
      dropped,
      last_sequence,
      epoch,
      failing_since,
      last_success_at,
      last_attempt_at,
      last_result,
    },
    recipients: recipients.map(({ email, state: own, asked_at, confirmed_at }) => ({
      email,
      state: own,
      asked_at,
      confirmed_at,
    })),
    stream,
  };
}

const ownerOf = 'select account_id from destination where destination_id = $1 and removed_at is null';

/** The destination's account. Throws `notFound`. */
export async function accountOfDestination(writer: pg.Pool, id: number): Promise<number> {
  const [row] = (await writer.query<{ account_id: number }>(ownerOf, [id])).rows;
  if (!row) throw notFound('destination', id, ': see "destination list".');
  return row.account_id;
}

/** A destination inside a change of its account. Throws `notFound`. */
export function destinationWithin(
  { client, accountId }: { client: pg.ClientBase; accountId: number },
  id: number,
): Promise<DestinationRow> {
  return readDestination(within(client), accountId, id);
}

/** The details of a destination in a log entry. */
export function propertiesOf({ id, name, channel, target }: DestinationRow) {
  return { destination_id: id, name, channel, target };
}
