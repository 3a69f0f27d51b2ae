import type pg from 'pg';
import type { Logger } from 'pino';
import type { SecretKeys } from '../../platform/encryption.ts';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { accountKey, LostAccountKey } from '../../store/account-key.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { errorFields } from '../../store/store-failure.ts';
import { confirmationMail } from '../channels/mail/confirmation-mail.ts';
import type { Send } from '../sending/outgoing.ts';
import { type AskedRecipient, isStillAsked } from './recipient-asker.ts';
import { recipientToken } from './recipient-token.ts';

/** How many links are sent in a round. */
const MOST_A_ROUND = 20;

/** Asked, and never sent: given up after a day, when the recipient may be asked again. */
const giveUp = `
  update destination_recipient
     set ask_at = null
   where ask_at <= now() and asked_at < now() - interval '1 day'`;

// Claimed for ten minutes: if this process dies, or sending fails, another round tries again.
const claim = `
  with due as (
    select r.account_id, r.destination_id, r.email
      from destination_recipient r
     where r.ask_at <= now()
       and ${mayStartWork('r.account_id')}
     order by r.ask_at
     limit ${MOST_A_ROUND}
       for update skip locked
  )
  update destination_recipient r
     set ask_at = now() + interval '10 minutes'
    from due, destination d, account a
   where r.account_id = due.account_id and r.destination_id = due.destination_id and r.email = due.email
     and d.account_id = r.account_id and d.destination_id = r.destination_id
     and a.account_id = r.account_id
  returning r.account_id, r.destination_id, r.email, a.name as account, d.name as destination,
            r.confirmed_at, r.asked_by,
            (select m.roles from member m
              where m.account_id = r.account_id and m.member_id = r.asked_by and m.status = 'active') as asker_roles,
            r.state = 'unconfirmed' and r.removed_at is null and d.removed_at is null and d.state <> 'paused' as is_wanted`;

const asked = `
  update destination_recipient
     set ask_at = null
   where account_id = $1 and destination_id = $2 and email = $3`;

interface Claimed extends AskedRecipient {
  account_id: number;
  destination_id: number;
  email: string;
  account: string;
  destination: string;
  is_wanted: boolean;
}

/** What asking recipients needs. */
export interface AskingParts {
  writer: pg.Pool;
  secret: SecretKeys;
  send: Send;
  /** The console's URL without a slash at the end. */
  consoleUrl: () => string;
}

/** Sends the links that are due, to recipients who have not confirmed yet. Returns how many the mail server accepted. */
export async function askRecipients({ writer, secret, send, consoleUrl }: AskingParts): Promise<number> {
  await writer.query(giveUp);
  const { rows } = await writer.query<Claimed>(claim);
  const sent = await Promise.all(
    rows.map(async ({ account_id: accountId, destination_id: destinationId, email, ...row }) => {
      const ids = [accountId, destinationId, email];
      // A member who was dismissed since sends no more mail: their link would not be accepted.
      if (!row.is_wanted || !isStillAsked(row)) {
        await writer.query(asked, ids);
        return false;
      }
      const key = await keyOf(writer, secret, accountId);
      if (!key) return false;
      const token = recipientToken(key, { accountId, destinationId, email });
      const { account, destination } = row;
      const mail = confirmationMail({ email, token, destination }, { account, consoleUrl: consoleUrl() });
      const { accepted } = await send({ protocol: 'smtp', messages: [mail] });
      if (accepted) await writer.query(asked, ids);
      return accepted;
    }),
  );
  return sent.filter(Boolean).length;
}

async function keyOf(writer: pg.Pool, secret: SecretKeys, accountId: number): Promise<Buffer | null> {
  try {
    return await accountKey(writer, secret, accountId);
  } catch (error) {
    if (error instanceof LostAccountKey) return null;
    throw error;
  }
}

const EVERY_MS = 5_000;

/** Runs {@link askRecipients} every few seconds until stopped. A failure is logged, and the next round tries again. */
export function startAskingRecipients(
  parts: AskingParts,
  log: Pick<Logger, 'error' | 'isLevelEnabled'>,
): Rounds {
  const round = async () => {
    await askRecipients(parts).catch((error: unknown) =>
      log.error(errorFields(error, log), 'recipients could not be asked to confirm'),
    );
  };
  return startRounds(round, { first: EVERY_MS, every: EVERY_MS });
}
