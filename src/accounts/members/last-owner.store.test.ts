import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { permissionsOf } from '../../vocabulary/role-permissions.ts';
import type { Actor } from './actor.ts';
import { addMember } from './add-member.ts';
import { changeMember, changeMemberAs, type MemberChanges } from './change-member.ts';
import { versionOf } from './member-rules.ts';
import { removeMember, removeMemberAs } from './remove-member.ts';

// The ways in, command line, `apply` and console, call these verbs. No statement outside this folder changes roles or status.

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

interface Owner {
  accountId: number;
  id: number;
}

/** An account with this many owners who can sign in. */
async function addOwners(count: number): Promise<Owner[]> {
  const accountId = await store.account();
  const owners: Owner[] = [];
  for (let n = 0; n < count; n += 1) {
    const email = `owner-${accountId}-${n}@example.com`;
    const { id } = await changeAccount(store.writer, accountId, (change) =>
      addMember(change, { name: 'Ada', email, roles: ['owner'], status: 'active' }),
    );
    await store.writer.query(
      `with person as (
         insert into login (account_id, email, name) values ($1, $2, 'Ada') returning login_id
       )
       update member set login_id = person.login_id from person where account_id = $1 and member_id = $3`,
      [accountId, email, id],
    );
    owners.push({ accountId, id });
  }
  return owners;
}

async function versionIn({ accountId, id }: Owner): Promise<string> {
  const { rows } = await store.writer.query<{ version: string }>(
    `select ${versionOf} as version from member m where account_id = $1 and member_id = $2`,
    [accountId, id],
  );
  return rows[0]?.version ?? '';
}

const actorOf = ({ accountId, id }: Owner): Actor => ({
  sessionId: 0,
  loginId: 0,
  email: '',
  accountId,
  memberId: id,
  name: 'Ada',
  roles: ['owner'],
  permissions: permissionsOf(['owner']),
  isRecent: true,
  bySingleSignOn: false,
});

const WAYS = ['remove', 'demote', 'suspend'] as const;
type Way = (typeof WAYS)[number];
const CHANGES: Record<Way, MemberChanges | null> = {
  remove: null,
  demote: { roles: ['admin'] },
  suspend: { status: 'suspended' },
};

/** Takes an owner away, as an operator's command or, with `by`, as a member in the console. */
async function takeAway(way: Way, owner: Owner, by: Owner | null): Promise<void> {
  const version = await versionIn(owner);
  const changes = CHANGES[way];
  await changeAccount(store.writer, owner.accountId, async (change) => {
    if (by === null)
      await (changes === null ? removeMember(change, owner.id) : changeMember(change, owner.id, changes));
    else {
      const made = { ...change, memberId: by.id };
      if (changes === null) await removeMemberAs(made, actorOf(by), owner.id);
      else await changeMemberAs(made, actorOf(by), owner.id, { ...changes, version });
    }
  });
}

async function countOwners({ accountId }: Owner): Promise<number> {
  const { rowCount } = await store.writer.query(
    `select from member where account_id = $1 and status = 'active' and 'owner' = any (roles)`,
    [accountId],
  );
  return rowCount ?? -1;
}

test.for(WAYS)('nobody can %s the last owner, and nothing is changed or logged', async (way) => {
  const [owner] = await addOwners(1);
  if (!owner) throw new Error('no owner');
  const entries = async () =>
    (await store.writer.query('select from activity where account_id = $1', [owner.accountId])).rowCount;
  const before = await entries();
  for (const by of [null, owner])
    await expect(takeAway(way, owner, by)).rejects.toThrow('would have no owner who can sign in');
  expect(await countOwners(owner)).toBe(1);
  expect(await entries()).toBe(before);
});

const PAIRS = WAYS.flatMap((one) => WAYS.map((other) => [one, other] as const));

test.for(PAIRS)('of two owners who %s and %s each other at once, one stays', async ([first, second]) => {
  for (const isConsole of [true, false]) {
    const [one, other] = await addOwners(2);
    if (!one || !other) throw new Error('no owners');
    const ended = await Promise.allSettled([
      takeAway(first, other, isConsole ? one : null),
      takeAway(second, one, isConsole ? other : null),
    ]);
    expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await countOwners(one)).toBe(1);
  }
});

test('an owner who has not joined or is suspended does not replace the last one', async () => {
  const [owner] = await addOwners(1);
  if (!owner) throw new Error('no owner');
  for (const status of ['invited', 'suspended'] as const)
    await changeAccount(store.writer, owner.accountId, (change) =>
      addMember(change, { name: 'Bo', email: `${status}@example.com`, roles: ['owner'], status }),
    );
  for (const way of WAYS)
    for (const by of [null, owner]) await expect(takeAway(way, owner, by)).rejects.toThrow('no owner');
  expect(await countOwners(owner)).toBe(1);
});
