import type { Change } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import type { Actor } from './actor.ts';
import { addLink, type NewLink } from './add-link.ts';
import { addMember } from './add-member.ts';
import type { WantedMember } from './member-row.ts';
import { requireMayGive } from './member-rules.ts';

const kindOf = 'select kind from account where account_id = $1';

/** Adds an invited member and creates the invitation link. */
export async function inviteMember(
  change: Change,
  actor: Actor,
  wanted: Omit<WantedMember, 'status'>,
): Promise<{ id: number; link: NewLink & { purpose: 'invitation' } }> {
  const [account] = (await change.client.query<{ kind: string }>(kindOf, [change.accountId])).rows;
  if (account?.kind === 'individual') {
    throw new Rejection('conflict', 'An individual account has no team. A team needs a company account.');
  }
  await requireMayGive(change, actor, wanted.roles);
  const { id } = await addMember(change, { ...wanted, status: 'invited' });
  const link = await addLink(change, {
    purpose: 'invitation',
    memberId: id,
    createdBy: actor.memberId,
  });
  return { id, link };
}
