import { hash } from 'node:crypto';
import type pg from 'pg';
import { changeAccount } from '../../activity/record-entry.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import { one } from '../../store/one.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';

// Who unsubscribes wants no messages from this service: an account can't go on by another destination, and another account
// neither. So it is kept in the control store, by address. These are all mails of dbvitals: invitations and links are
// handed over by a person.

/** How many links to confirm an inbox gets within 24 hours, from all accounts together. */
export const MOST_ASKED_OF_INBOX = 5;

const sha256 = (text: string) => hash('sha256', text, 'buffer');

/** Both names of Gmail, which delivers `a.da@` to `ada@` too. */
const GMAIL = new Set(['gmail.com', 'googlemail.com']);

/** The hash of an inbox: most mail servers deliver `ada+1@` and `ada+2@` to `ada@`. */
function hashInbox(email: string): Buffer {
  const at = email.lastIndexOf('@');
  const [name, domain] = [email.slice(0, at).replace(/\+.*$/, ''), email.slice(at + 1)];
  return sha256(GMAIL.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`);
}

const insert = `
  insert into unsubscribed (email_hash, since) values ($1, clock_timestamp())
  on conflict (email_hash) do update set since = excluded.since`;

/** Keeps that nothing more is sent to the address, in the transaction of its cell. */
export async function keepUnsubscribed(client: pg.ClientBase, email: string): Promise<void> {
  await (await controlOf(client)).query(insert, [sha256(email)]);
}

const select = 'select email_hash from unsubscribed where email_hash = any ($1)';

/** Those of the addresses whose owner has unsubscribed, from any destination of any account. */
export async function findUnsubscribed(client: pg.ClientBase, emails: readonly string[]): Promise<string[]> {
  const { rows } = await (await controlOf(client)).query<{ email_hash: Buffer }>(select, [
    emails.map(sha256),
  ]);
  const hashes = new Set(rows.map(({ email_hash }) => email_hash.toString('hex')));
  return emails.filter((email) => hashes.has(sha256(email).toString('hex')));
}

// The first number is arbitrary: it stands for this kind of lock. Locks are taken in one order to prevent deadlocks.
const lock = `
  select pg_advisory_xact_lock(5811, key)
    from (select distinct hashtext(encode(inbox, 'hex')) as key from unnest($1::bytea[]) inbox order by 1) k`;

const count = `
  select coalesce(max(asked), 0)::int as most
    from (select count(*) as asked
            from (select inbox_hash from asked_inbox
                   where inbox_hash = any ($1) and at > clock_timestamp() - interval '1 day'
                   union all
                  select unnest($1::bytea[])) each
           group by inbox_hash) inboxes`;

const add = 'insert into asked_inbox (inbox_hash) select unnest($1::bytea[])';

/**
 * Counts a link to confirm for each of the addresses, whose tags don't matter here. False = an inbox
 * would get too many from all accounts within 24 hours.
 */
export async function countAsked(client: pg.ClientBase, emails: readonly string[]): Promise<boolean> {
  const control = await controlOf(client);
  const inboxes = [emails.map(hashInbox)];
  await control.query(lock, inboxes);
  const { most } = one((await control.query<{ most: number }>(count, inboxes)).rows, 'count links');
  if (most > MOST_ASKED_OF_INBOX) return false;
  await control.query(add, inboxes);
  return true;
}

const selectOthers = `
  select distinct account_id from destination_recipient
   where email = $1 and state <> 'unsubscribed' and removed_at is null`;

const endOthers = `
  update destination_recipient r
     set state = 'unsubscribed', ask_at = null
    from destination d
   where r.account_id = $1 and r.email = $2 and r.state <> 'unsubscribed' and r.removed_at is null
     and ($3::timestamptz is null or r.confirmed_at is null or r.confirmed_at < $3)
     and d.account_id = r.account_id and d.destination_id = r.destination_id
  returning r.destination_id, d.name`;

/** The accounts of one store that still have the address as a recipient. */
export async function findOtherAccounts(writer: pg.Pool, email: string): Promise<{ account_id: number }[]> {
  return (await writer.query<{ account_id: number }>(selectOthers, [email])).rows;
}

/**
 * Unsubscribes the address from every destination of an account; with `since`, not from those that its owner has confirmed
 * after that time.
 */
export function unsubscribeFromAccount(
  writer: pg.Pool,
  accountId: number,
  email: string,
  since: string | null = null,
): Promise<void> {
  return changeAccount(writer, accountId, async ({ client, record }) => {
    const values = [accountId, email, since];
    const { rows } = await client.query<{ destination_id: number; name: string }>(endOthers, values);
    for (const { destination_id, name } of rows)
      record('recipient_unsubscribed', PAGE_LINKS.destination(destination_id), {
        destination_id,
        name,
        email,
      });
  });
}
