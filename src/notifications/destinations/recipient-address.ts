import { invalidParameter } from '../../platform/rejection.ts';

/** The most recipients of a destination: a longer list is a mailing list of one's own. */
export const MOST_RECIPIENTS = 20;

// Narrower than RFC 5322: no quoted names, comments or domain literals, so that no text can leave its mail header.
const ADDRESS = /^[0-9A-Za-z!#$%&'*+/=?^_`{|}~.-]{1,64}@(?:[0-9A-Za-z-]{1,63}\.)*[0-9A-Za-z-]{1,63}$/;

/** Requires 1 to 20 different e-mail addresses. Throws a {@link Rejection}. */
export function requireRecipients(recipients: readonly string[]): void {
  const reject = (sentence: string) => invalidParameter('recipients', sentence);
  if (recipients.length === 0) throw reject('Enter at least one recipient.');
  if (recipients.length > MOST_RECIPIENTS)
    throw reject(`Enter at most ${MOST_RECIPIENTS} recipients: use a mailing list for more.`);
  if (recipients.some((email) => email.length > 254 || !ADDRESS.test(email)))
    throw reject('Enter each recipient as an e-mail address, such as ada@example.com.');
  if (new Set(recipients.map((email) => email.toLowerCase())).size < recipients.length)
    throw reject('Enter each recipient once.');
}

/** The address as stored. No server that matters tells capitals in it apart, and an unsubscribed one must stay so. */
export function foldRecipient(email: string): string {
  return email.toLowerCase();
}
