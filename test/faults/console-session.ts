import { createHash, randomBytes } from 'node:crypto';
import { insertSession } from '../support/console-reads.ts';
import type { Stage } from './stage.ts';

/** The cookie of a new owner of the account. */
export async function signIn(stage: Stage, accountId: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(token).digest();
  const email = `owner-${hash.toString('hex', 0, 6)}@example.com`;
  await stage.query(insertSession, [accountId, email, hash]);
  return `dbvitals_session=${token}`;
}
