import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { hashToken } from '../../platform/token.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import type { Actor } from '../members/actor.ts';
import { actorOf } from './sessions.ts';
import type { SignInParts } from './sign-in-request.ts';

const end = 'delete from session where login_id = $1 and session_id = $2';
const endAll = 'delete from session where login_id = $1 returning session_id';
const endByToken = 'delete from session where token_hash = $1';

/** Ends one session of the person. Throws 404 when there is none. */
export async function endSession({ client, record }: Change, actor: Actor, id: number): Promise<void> {
  const { rowCount } = await (await controlOf(client)).query(end, [actor.loginId, id]);
  if (rowCount === 0) throw notFound();
  record('session_ended', '/sessions', { member_id: actor.memberId, name: actor.name, session_id: id });
}

/** Ends every session of the person, the current one too. */
export async function endEverySession({ client, record }: Change, actor: Actor): Promise<void> {
  const { rows } = await (await controlOf(client)).query<{ session_id: number }>(endAll, [actor.loginId]);
  record('session_ended', '/sessions', {
    member_id: actor.memberId,
    name: actor.name,
    everywhere: true,
    session_ids: rows.map(({ session_id }) => session_id),
  });
}

/** Ends the session of a token, if there is one. */
export async function signOut(
  parts: Pick<SignInParts, 'control' | 'stores' | 'inTurn'>,
  token: string,
): Promise<void> {
  const found = await actorOf(parts, token).catch((error: unknown) => {
    if (error instanceof Rejection) return null;
    throw error;
  });
  if (found === null) {
    await parts.control.query(endByToken, [hashToken(token)]);
    return;
  }
  const { actor, store } = found;
  await parts.inTurn(store.writer, actor.accountId, () =>
    changeAccount(store.writer, actor.accountId, async ({ client, record }) => {
      await (await controlOf(client)).query(endByToken, [hashToken(token)]);
      record('member_signed_out', '/sign-in', { member_id: actor.memberId, name: actor.name });
    }),
  );
}
