import type { WebAuthnCredential } from '@simplewebauthn/server';
import pg from 'pg';
import type { Change } from '../../../activity/record-entry.ts';
import { Rejection } from '../../../platform/rejection.ts';
import { controlOf } from '../../../store/cells/control-store.ts';
import type { Actor } from '../../members/actor.ts';

/** The most passkeys of a login. */
const MOST = 20;

const insert = `
  insert into passkey (credential_id, login_id, name, public_key, counter, transports)
  select $1, $2, $3, $4, $5, $6
   where (select count(*) from passkey where login_id = $2) < ${MOST}`;

/** Adds a passkey to the person's login. Throws 409 when the login has the maximum number of passkeys. */
export async function addPasskey(
  { client, record }: Change,
  actor: Actor,
  { id, publicKey, counter, transports = [], name }: WebAuthnCredential & { name: string },
): Promise<void> {
  const values = [Buffer.from(id, 'base64url'), actor.loginId, name, publicKey, counter, transports];
  const { rowCount } = await (await controlOf(client)).query(insert, values);
  if (rowCount === 0) {
    throw new Rejection('conflict', `You already have ${MOST} passkeys. Remove one that you do not use.`);
  }
  record('passkey_added', '/sessions', { member_id: actor.memberId, name: actor.name, passkey: name });
}

/** Throws 409 if another login already has the passkey, and rethrows every other error. */
export function rejectKnownPasskey(error: unknown): never {
  if (!(error instanceof pg.DatabaseError && error.constraint === 'passkey_pkey')) throw error;
  throw new Rejection('conflict', 'This passkey was already added.');
}
