import type { Change } from '../../../activity/record-entry.ts';
import { notFound, Rejection } from '../../../platform/rejection.ts';
import { controlOf } from '../../../store/cells/control-store.ts';
import type { Actor } from '../../members/actor.ts';

// Locked, so that two removals at the same time can't remove the last two ways to sign in.
const waysIn = `
  select l.password is not null as password, l.oidc_subject is not null as oidc,
         (select count(*) from passkey p where p.login_id = l.login_id) as passkeys
    from login l
   where l.login_id = $1
     for update`;

const remove = 'delete from passkey where credential_id = $1 and login_id = $2 returning name';

/** Removes a passkey of the person. Throws 404 when there is none, and 409 when it is their only way to sign in. */
export async function removePasskey(
  { client, record }: Change,
  actor: Actor,
  credential: Buffer,
  { hasSingleSignOn }: { hasSingleSignOn: boolean },
): Promise<void> {
  const control = await controlOf(client);
  const { rows } = await control.query<{ password: boolean; oidc: boolean; passkeys: number }>(waysIn, [
    actor.loginId,
  ]);
  const [ways] = rows;
  const isLast = ways?.passkeys === 1 && !ways.password && !(ways.oidc && hasSingleSignOn);
  const [removed] = (await control.query<{ name: string }>(remove, [credential, actor.loginId])).rows;
  if (!removed) throw notFound();
  if (isLast) {
    throw new Rejection(
      'conflict',
      'This passkey is your only way to sign in. Set a password or add another passkey first.',
    );
  }
  const { memberId: member_id, name } = actor;
  record('passkey_removed', '/sessions', { member_id, name, passkey: removed.name });
}
