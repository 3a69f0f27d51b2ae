import type pg from 'pg';
import { changeAccount } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { keepUnsubscribed } from '../recipients/unsubscribed.ts';
import { type AskedRecipient, isStillAsked } from './recipient-asker.ts';
import { recipientTokenHash } from './recipient-token.ts';

/** What a recipient's link is for: nothing that the recipient's messages do not say. */
export interface RecipientLink {
  account: string;
  destination: string;
  email: string;
  state: 'unconfirmed' | 'confirmed' | 'unsubscribed';
}

interface Found extends RecipientLink, AskedRecipient {
  account_id: number;
  destination_id: number;
}

const select = `
  select r.account_id, r.destination_id, r.email, r.state, r.confirmed_at, r.asked_by, m.roles as asker_roles,
         a.name as account, d.name as destination
    from destination_recipient r
    join destination d on d.account_id = r.account_id and d.destination_id = r.destination_id
    join account a on a.account_id = r.account_id
    left join member m on m.account_id = r.account_id and m.member_id = r.asked_by and m.status = 'active'
   where r.token_hash = $1 and r.removed_at is null and d.removed_at is null`;

/** No recipient has this link, it was removed, or who asked them to confirm may not do so any more. */
function noRecipient(): Rejection {
  return new Rejection('not_found', 'This link is no longer valid.');
}

async function find(writer: pg.Pool | pg.ClientBase, token: string): Promise<Found> {
  const { rows } = await writer.query<Found>(select, [recipientTokenHash(token)]);
  const [found] = rows;
  if (!found) throw noRecipient();
  return found;
}

const accountsOf = 'select account_id from destination_recipient where token_hash = $1';

/** The account of a recipient's link, if this store has it. */
export async function findRecipientAccounts(
  writer: pg.Pool,
  token: string,
): Promise<{ account_id: number }[]> {
  return (await writer.query<{ account_id: number }>(accountsOf, [recipientTokenHash(token)])).rows;
}

/** What a recipient's link is for. Changes nothing: mail scanners follow links. Throws `notFound`. */
export async function readRecipient(writer: pg.Pool, token: string): Promise<RecipientLink> {
  const { account, destination, email, state } = await find(writer, token);
  return { account, destination, email, state };
}

// Who confirms after the mail was lost or late needs no other. At most once a minute: each answer is an entry in the log.
const confirm = `
  update destination_recipient
     set state = 'confirmed', confirmed_at = $4, ask_at = null
   where account_id = $1 and destination_id = $2 and email = $3 and state <> 'confirmed'
     and (confirmed_at is null or confirmed_at < $4::timestamptz - interval '1 minute')`;

const unsubscribe = `
  update destination_recipient
     set state = 'unsubscribed', ask_at = null
   where account_id = $1 and destination_id = $2 and email = $3 and state <> 'unsubscribed'`;

/**
 * Lets messages be sent to the recipient with this link. Repeating it changes nothing. Throws `notFound`, and a
 * {@link Rejection} within a minute of the last confirmation.
 */
export function confirmRecipient(writer: pg.Pool, token: string): Promise<RecipientLink> {
  return answer(writer, token, confirm, 'recipient_confirmed');
}

/** Sends nothing more to the recipient with this link. Repeating it changes nothing. Throws `notFound`. */
export function unsubscribeRecipient(writer: pg.Pool, token: string): Promise<RecipientLink> {
  return answer(writer, token, unsubscribe, 'recipient_unsubscribed');
}

async function answer(
  writer: pg.Pool,
  token: string,
  update: string,
  actionType: 'recipient_confirmed' | 'recipient_unsubscribed',
): Promise<RecipientLink> {
  const { account_id, destination_id, account, destination, email, state } = await find(writer, token);
  const link = { account, destination, email, state };
  // Repeating an answer must not take the lock of the account's log.
  if (link.state === (update === confirm ? 'confirmed' : 'unsubscribed')) return link;
  const changed = await changeAccount(writer, account_id, async ({ client, at, record }) => {
    if (update === confirm && !isStillAsked(await find(client, token))) throw noRecipient();
    const values = [account_id, destination_id, email];
    const withTime = update === confirm ? [...values, at] : values;
    const { rowCount } = await client.query(update, withTime);
    // Read again: the recipient may have been removed before this change got the lock.
    const now = await find(client, token);
    if (update === unsubscribe) await keepUnsubscribed(client, email);
    if (rowCount === 1)
      record(actionType, PAGE_LINKS.destination(destination_id), {
        destination_id,
        name: now.destination,
        email,
      });
    return { account: now.account, destination: now.destination, email, state: now.state };
  });
  if (update === confirm && changed.state !== 'confirmed')
    throw new Rejection('too_many_attempts', 'You confirmed within the last minute: try again in a minute.', {
      retryAfter: 60,
    });
  return changed;
}
