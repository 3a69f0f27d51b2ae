import type pg from 'pg';
import { addMember } from '../../accounts/members/add-member.ts';
import { changeMember } from '../../accounts/members/change-member.ts';
import { listMembers } from '../../accounts/members/list-members.ts';
import type { MemberRow } from '../../accounts/members/member-row.ts';
import { removeMember } from '../../accounts/members/remove-member.ts';
import type { Steps } from './apply-step.ts';
import type { ReadFile } from './configuration-file.ts';
import type { DesiredAccount, DesiredMember } from './desired-state.ts';
import { type Kind, reconcile } from './reconcile.ts';

/** The steps that bring an account's members to the desired state. The id of a new account is null. */
export async function planMembers(
  client: pg.ClientBase,
  account: { id: number | null; name: string },
  { members, path }: { members: readonly DesiredMember[]; path: DesiredAccount['path'] },
  { file, prune }: { file: ReadFile; prune: boolean },
): Promise<Steps> {
  const stored = await listMembers(client, account.id);
  const known = new Map(stored.map((member) => [keyOf(member), member]));
  // New owners come first, because no step may take the last one away.
  const ordered = members.toSorted((one, other) => Number(isOwner(other)) - Number(isOwner(one)));
  const named = new Set(members.map(keyOf));
  const others = stored.filter((member) => !named.has(keyOf(member)));
  const after = [
    ...members.map((member) => ({ ...member, status: member.status ?? known.get(keyOf(member))?.status })),
    ...(prune ? [] : others),
  ];
  if (stored.some(isOwner) && !after.some(isOwner))
    file.problem(
      [...path, 'members'],
      'The account would have no owner: give an active member the role owner.',
    );
  return reconcile(MEMBER, account.name, ordered, stored);
}

const isOwner = ({
  roles,
  status = 'active',
}: Pick<DesiredMember, 'roles'> & Partial<Pick<DesiredMember, 'status'>>) =>
  status === 'active' && roles.includes('owner');

const keyOf = ({ email }: Pick<MemberRow, 'email'>) => email.toLowerCase();

const MEMBER: Kind<DesiredMember, MemberRow> = {
  what: 'member',
  key: keyOf,
  name: ({ email }) => email,
  // The order of roles has no meaning.
  describe: ({ name, roles, status }, before) => ({
    name,
    roles: [...new Set(roles)].sort(),
    status: status ?? before?.status ?? 'active',
  }),
  describeStored: (member) => ({ ...member, roles: member.roles.toSorted() }),
  add: (change, { name, email, roles, status = 'active' }) =>
    addMember(change, { name, email, roles: [...new Set(roles)].sort(), status }),
  change: (change, { id }, _, to) => changeMember(change, id, to),
  remove: (change, { id }) => removeMember(change, id),
};
