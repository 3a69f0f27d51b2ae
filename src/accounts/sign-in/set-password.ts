import type { Change } from '../../activity/record-entry.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import type { Actor } from '../members/actor.ts';
import { endLinks } from '../members/add-link.ts';

const update = 'update login set password = $2 where login_id = $1';
const endOthers = 'delete from session where login_id = $1 and session_id <> $2';

/** Sets the person's password (a PHC string), and ends their other sessions, and links that would set another one. */
export async function setPassword(change: Change, actor: Actor, password: string): Promise<void> {
  const { client, record } = change;
  const control = await controlOf(client);
  await control.query(update, [actor.loginId, password]);
  await control.query(endOthers, [actor.loginId, actor.sessionId]);
  await endLinks(change, actor.memberId);
  record('password_changed', '/account', { member_id: actor.memberId, name: actor.name });
}
