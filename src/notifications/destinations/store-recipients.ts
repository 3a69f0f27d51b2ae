import type { Change } from '../../activity/record-entry.ts';
import { conflict } from '../../platform/rejection.ts';
import { countAsked, findUnsubscribed, MOST_ASKED_OF_INBOX } from '../recipients/unsubscribed.ts';
import { destinationWithin } from './destination-row.ts';
import { recipientToken, recipientTokenHash } from './recipient-token.ts';

/** How many links to confirm an account may ask for within 24 hours, so that nobody floods others with them. */
const MOST_ASKED_OF_ACCOUNT = 50;

/** How many links one address gets from an account within 24 hours. */
const MOST_ASKED_OF_ADDRESS = 3;

const upsert = `
  insert into destination_recipient as r (account_id, destination_id, email, state, token_hash, asked_by)
  select $1, $2, email, 'unconfirmed', token_hash, $5
    from unnest($3::text[], $4::bytea[]) as n (email, token_hash)
  on conflict (account_id, destination_id, email)
  do update set token_hash = excluded.token_hash, removed_at = null, asked_by = excluded.asked_by`;

const removeOthers = `
  update destination_recipient
     set removed_at = $4, ask_at = null
   where account_id = $1 and destination_id = $2 and removed_at is null and email <> all ($3::text[])`;

const removeAll = `
  update destination_recipient
     set removed_at = $3, ask_at = null
   where account_id = $1 and destination_id = $2 and removed_at is null`;

// A new recipient is asked; one who unsubscribed is never asked again.
const selectUnasked = `
  select email
    from destination_recipient
   where account_id = $1 and destination_id = $2 and state = 'unconfirmed' and removed_at is null
     and (asked_at is null or ($4 and asked_at <= $3::timestamptz - interval '1 hour'))
   order by email`;

// Removed recipients and destinations count: removing and adding them again asks nobody more often.
const selectAsked = `
  select coalesce(sum(times_asked), 0)::int as of_account,
         coalesce(max(of_address), 0)::int as of_address
    from (select r.times_asked,
                 case when r.email = any ($3) then sum(r.times_asked) over (partition by r.email) end as of_address
            from destination_recipient r
           where r.account_id = $1 and r.asked_at > $2::timestamptz - interval '1 day') asked`;

const markUnsubscribed = `
  update destination_recipient
     set state = 'unsubscribed', ask_at = null
   where account_id = $1 and destination_id = $2 and email = any ($3) and state = 'unconfirmed'`;

const ask = `
  update destination_recipient
     set times_asked = case when asked_at > $3::timestamptz - interval '1 day' then times_asked + 1 else 1 end,
         asked_at = $3, ask_at = $3, asked_by = $5
   where account_id = $1 and destination_id = $2 and email = any ($4)`;

type Within = Pick<Change, 'accountId' | 'client' | 'at' | 'memberId'>;

/**
 * Makes these the recipients of a destination, and asks new ones to confirm. The links are sent by the service, soon after
 * the change. Throws a {@link Rejection} when too many were asked within 24 hours.
 */
export async function storeRecipients(
  within: Within,
  accountKey: Buffer,
  destinationId: number,
  emails: readonly string[],
): Promise<void> {
  const { accountId, client, at, memberId } = within;
  const hashes = emails.map((email) =>
    recipientTokenHash(recipientToken(accountKey, { accountId, destinationId, email })),
  );
  await client.query(removeOthers, [accountId, destinationId, emails, at]);
  await client.query(upsert, [accountId, destinationId, emails, hashes, memberId]);
  await askUnconfirmed(within, destinationId, false);
}

/**
 * Asks the unconfirmed recipients of a destination who were never asked, or over an hour ago. Returns their addresses. Throws
 * 404 if the account has no such destination, and a {@link Rejection} when too many were asked within 24 hours.
 */
export async function askAgain(change: Within, destinationId: number): Promise<string[]> {
  await destinationWithin(change, destinationId);
  return askUnconfirmed(change, destinationId, true);
}

/** Asks the unconfirmed recipients who were never asked; with `again` also those who were asked over an hour ago. */
async function askUnconfirmed(
  { accountId, client, at, memberId }: Within,
  destinationId: number,
  again: boolean,
): Promise<string[]> {
  const { rows } = await client.query<{ email: string }>(selectUnasked, [
    accountId,
    destinationId,
    at,
    again,
  ]);
  const found = rows.map(({ email }) => email);
  const unsubscribed = await findUnsubscribed(client, found);
  await client.query(markUnsubscribed, [accountId, destinationId, unsubscribed]);
  const emails = found.filter((email) => !unsubscribed.includes(email));
  if (emails.length === 0) return [];
  const [asked] = (
    await client.query<{ of_account: number; of_address: number }>(selectAsked, [accountId, at, emails])
  ).rows;
  if ((asked?.of_account ?? 0) + emails.length > MOST_ASKED_OF_ACCOUNT)
    throw conflict(
      'recipients',
      `The account asked ${MOST_ASKED_OF_ACCOUNT} recipients within 24 hours: add the others tomorrow.`,
    );
  if ((asked?.of_address ?? 0) >= MOST_ASKED_OF_ADDRESS)
    throw conflict(
      'recipients',
      `One of these recipients was asked ${MOST_ASKED_OF_ADDRESS} times within 24 hours: ask again tomorrow.`,
    );
  if (!(await countAsked(client, emails)))
    throw conflict(
      'recipients',
      `The inbox of one of these recipients got ${MOST_ASKED_OF_INBOX} links to confirm within 24 hours: ask again tomorrow.`,
    );
  await client.query(ask, [accountId, destinationId, at, emails, memberId]);
  return emails;
}

/** Removes all recipients of a destination. */
export async function removeRecipients(
  { accountId, client, at }: Within,
  destinationId: number,
): Promise<void> {
  await client.query(removeAll, [accountId, destinationId, at]);
}
