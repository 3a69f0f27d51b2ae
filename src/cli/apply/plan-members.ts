import type pg from 'pg';
import { addMember } from '../../members/add-member.ts';
import { changeMember } from '../../members/change-member.ts';
import { listMembers } from '../../members/list-members.ts';
import type { MemberRow } from '../../members/member-row.ts';
import { removeMember } from '../../members/remove-member.ts';
import { changesOf, type Step, type Steps } from './apply-step.ts';
import type { DesiredMember } from './desired-state.ts';

/** The steps that bring an account's members to the desired state. The id of a new account is null. */
export async function planMembers(
  client: pg.ClientBase,
  account: { id: number | null; name: string },
  wanted: readonly DesiredMember[],
): Promise<Steps> {
  const stored = await listMembers(client, account.id);
  const known = new Map(stored.map((member) => [keyOf(member), member]));
  const steps = wanted.flatMap((member) => stepFor(account.name, known.get(keyOf(member)), member) ?? []);
  const named = new Set(wanted.map(keyOf));
  const unnamed = stored
    .filter((member) => !named.has(keyOf(member)))
    .map((member) => removal(account.name, member));
  return { wanted: steps, unnamed };
}

const keyOf = ({ email }: Pick<MemberRow, 'email'>) => email.toLowerCase();

function stepFor(account: string, before: MemberRow | undefined, wanted: DesiredMember): Step | null {
  const { name, email, status } = wanted;
  // The order of roles has no meaning.
  const roles = [...new Set(wanted.roles)].sort();
  const of = { what: 'member', account, name: email } as const;
  if (!before) {
    const member = { name, email, roles, status: status ?? ('active' as const) };
    const difference = {
      action: 'add',
      ...of,
      ...changesOf({}, { name, roles, status: member.status }),
    } as const;
    return { difference, make: (change) => addMember(change, member) };
  }
  const after = { name, roles, status: status ?? before.status };
  const changes = changesOf({ ...before, roles: before.roles.toSorted() }, after);
  if (changes.changed.length === 0) return null;
  return {
    difference: { action: 'change', ...of, ...changes },
    make: (change) => changeMember(change, before.id, changes.to),
  };
}

function removal(account: string, { id, email }: MemberRow): Step {
  const none = { changed: [], from: {}, to: {} };
  return {
    difference: { action: 'remove', what: 'member', account, name: email, ...none },
    make: (change) => removeMember(change, id),
  };
}
