import { createHmac, hash } from 'node:crypto';

/** The recipient of a destination. */
export interface RecipientKey {
  accountId: number;
  destinationId: number;
  email: string;
}

/**
 * The token in the links of a recipient: 32 bytes in base64url. It is derived from the account's key, because each message
 * needs it while the store keeps only its hash (docs/decisions/0071).
 */
export function recipientToken(
  accountKey: Buffer,
  { accountId, destinationId, email }: RecipientKey,
): string {
  const of = JSON.stringify(['dbvitals recipient', accountId, destinationId, email]);
  return createHmac('sha256', accountKey).update(of).digest('base64url');
}

/** The hash of a recipient's token, as stored. */
export function recipientTokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
