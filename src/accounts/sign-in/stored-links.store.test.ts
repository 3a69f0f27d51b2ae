import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { consoleOn } from '../../console-api/console-fixture.ts';
import { hashToken, newToken } from '../../platform/token.ts';
import { oneStore } from '../../store/directory/console-stores.ts';
import { one } from '../../store/one.ts';
import { permissionsOf, ROLE_IDS, type RoleId } from '../../vocabulary/role-permissions.ts';
import type { Actor } from '../members/actor.ts';
import { addLink } from '../members/add-link.ts';
import { changeMember, type MemberChanges } from '../members/change-member.ts';
import { findOffers } from '../members/find-offers.ts';
import { covers } from '../members/member-rules.ts';
import { removeMember } from '../members/remove-member.ts';
import { findLink, spendLink } from './find-link.ts';
import { hashNewPassword } from './password.ts';
import { setPassword } from './set-password.ts';

let store: TestStore;
let accountId: number;
let people = 0;

beforeAll(async () => {
  store = await startTestStore();
  accountId = await store.account();
  await person('owner', true); // the account keeps an owner, whatever happens to a maker
});
afterAll(() => store.stop());

const insertLogin = 'insert into login (account_id, email, name) values ($1, $2, $2) returning login_id';
const insertMember = `
  insert into member (account_id, name, email, roles, status, joined_at, login_id)
  values ($1, $2, $2, array[$3], $4, now(), $5)
  returning member_id`;

/** A member with one role; without a login, they are invited. */
async function person(role: RoleId, joined: boolean): Promise<number> {
  people += 1;
  const email = `person-${people}@example.com`;
  const { rows: logins } = joined
    ? await store.writer.query<{ login_id: number }>(insertLogin, [accountId, email])
    : { rows: [] };
  const values = [accountId, email, role, joined ? 'active' : 'invited', logins[0]?.login_id ?? null];
  return one((await store.writer.query<{ member_id: number }>(insertMember, values)).rows, 'add').member_id;
}

const change = (id: number, changes: MemberChanges, by: number | null = null) =>
  changeAccount(store.writer, accountId, (made) => changeMember({ ...made, memberId: by }, id, changes));
const set = (id: number, column: 'roles' | 'status', value: unknown) =>
  store.writer.query(`update member set ${column} = $2 where member_id = $1`, [id, value]);

const link = (memberId: number, createdBy: number | null, purpose: 'invitation' | 'reset') =>
  changeAccount(store.writer, accountId, (made) => addLink(made, { purpose, memberId, createdBy }));

/** Whether a link still works: its page and its use agree. A link that works is used up. */
async function works(token: string): Promise<boolean> {
  const stores = oneStore({ writer: store.writer, reader: store.writer });
  const isShown = await findLink(stores, token).then(() => true, isGone);
  const isUsed = await changeAccount(store.writer, accountId, (made) => spendLink(made, token)).then(
    () => true,
    isGone,
  );
  expect(isUsed).toBe(isShown);
  return isUsed;
}

function isGone(error: unknown): false {
  expect(error).toMatchObject({ code: 'not_found' });
  return false;
}

const MAKERS = ['owner', 'admin'] as const;
const gains = (from: RoleId, to: RoleId) => !covers(permissionsOf([from]), [to]);
/** Each maker's role with each role of a member that they may change. */
const PAIRS = MAKERS.flatMap((maker) =>
  ROLE_IDS.filter((target) => !gains(maker, target)).map((target) => ({ maker, target })),
);

describe.each(PAIRS)('a link by $maker for $target', ({ maker, target }) => {
  const purposes = ['invitation', 'reset'] as const;

  async function made(purpose: (typeof purposes)[number]) {
    const makerId = await person(maker, true);
    const targetId = await person(target, purpose === 'reset');
    return { makerId, targetId, token: (await link(targetId, makerId, purpose)).token };
  }

  test.each(purposes)('%s: works once while both stay as they are', async (purpose) => {
    const { token } = await made(purpose);
    expect(await works(token)).toBe(true);
    expect(await works(token)).toBe(false);
  });

  test.each(purposes)('%s: ends when the member gains a permission', async (purpose) => {
    for (const role of ROLE_IDS) {
      const [{ targetId, token }, unseen] = [await made(purpose), await made(purpose)];
      await change(targetId, { roles: [role] });
      const isEnded = gains(target, role);
      if (isEnded) await change(targetId, { roles: [target] }); // taking it back does not revive the link
      expect(await works(token), role).toBe(!isEnded);
      // Judged by today's roles, also if they changed past the product.
      await set(unseen.targetId, 'roles', [role]);
      expect(await works(unseen.token), role).toBe(!gains(maker, role));
    }
  });

  test.each(purposes)('%s: ends with the authority of its maker', async (purpose) => {
    for (const role of ROLE_IDS) {
      const [{ makerId, token }, unseen] = [await made(purpose), await made(purpose)];
      await change(makerId, { roles: [role] });
      const isMaker = permissionsOf([role]).has('members:write');
      if (!isMaker) await change(makerId, { roles: [maker] });
      const holds = isMaker && !gains(role, target);
      expect(await works(token), role).toBe(holds);
      await set(unseen.makerId, 'roles', [role]);
      expect(await works(unseen.token), role).toBe(holds);
    }
    const [suspended, removed, unseen] = [await made(purpose), await made(purpose), await made(purpose)];
    await change(suspended.makerId, { status: 'suspended' });
    await change(suspended.makerId, { status: 'active' });
    await changeAccount(store.writer, accountId, (made) => removeMember(made, removed.makerId));
    await set(unseen.makerId, 'status', 'suspended');
    for (const { token } of [suspended, removed, unseen]) expect(await works(token)).toBe(false);
  });
});

test('a link by the operator needs no maker, and still ends with a new permission, address or suspension', async () => {
  const make = async () => {
    const id = await person('viewer', false);
    return { id, token: (await link(id, null, 'invitation')).token };
  };
  const [kept, raised, moved, suspended] = [await make(), await make(), await make(), await make()];
  await change(raised.id, { roles: ['operator'] });
  await change(moved.id, { email: 'elsewhere@example.com' });
  await change(suspended.id, { status: 'suspended' });
  await change(suspended.id, { status: 'active' });
  expect(await works(kept.token)).toBe(true);
  for (const { token } of [raised, moved, suspended]) expect(await works(token)).toBe(false);
});

test('a link to set a password ends when its member sets one', async () => {
  const id = await person('viewer', true);
  const { token } = await link(id, null, 'reset');
  const { rows } = await store.writer.query<{ login_id: number }>(selectLoginOf, [id]);
  const actor = { loginId: one(rows, 'find the login').login_id, memberId: id, sessionId: 0, name: 'x' };
  await changeAccount(store.writer, accountId, (made) => setPassword(made, actor as Actor, 'x'));
  expect(await works(token)).toBe(false);
});

const selectLoginOf = 'select login_id from member where member_id = $1';

describe('an invitation that is accepted with single sign-on', () => {
  const selectEmail = 'select email from member where member_id = $1';

  async function isOffered(memberId: number): Promise<boolean> {
    const { rows } = await store.writer.query<{ email: string }>(selectEmail, [memberId]);
    const { email } = one(rows, 'find the address');
    const sources: Parameters<typeof findOffers>[0] = {
      control: store.writer,
      inEach: (find) => find(store.writer),
    };
    const offers = await findOffers(sources, { email, issuer: 'https://id.example.com', loginId: null });
    return offers.some(({ member_id }) => member_id === memberId);
  }

  test.each(MAKERS)('ends with the authority of the %s who made it', async (maker) => {
    for (const role of ROLE_IDS) {
      const [makerId, invited] = [await person(maker, true), await person('operator', false)];
      await link(invited, makerId, 'invitation');
      expect(await isOffered(invited)).toBe(true);
      await change(makerId, { roles: [role] });
      expect(await isOffered(invited), role).toBe(permissionsOf([role]).has('members:write'));
    }
    const [makerId, invited] = [await person(maker, true), await person('operator', false)];
    await link(invited, makerId, 'invitation');
    await changeAccount(store.writer, accountId, (made) => removeMember(made, makerId));
    expect(await isOffered(invited)).toBe(false);
    await link(invited, null, 'invitation'); // the operator invites them again
    expect(await isOffered(invited)).toBe(true);
  });

  test('is in the name of the member who set its roles last', async () => {
    const [admin, owner, invited] = [
      await person('admin', true),
      await person('owner', true),
      await person('viewer', false),
    ];
    await link(invited, admin, 'invitation');
    await change(invited, { roles: ['owner'] }, owner);
    await change(admin, { status: 'suspended' });
    expect(await isOffered(invited)).toBe(true);
    await change(owner, { roles: ['admin'] });
    expect(await isOffered(invited)).toBe(false);
  });
});

describe('sessions', () => {
  const insertSession = `
    insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent)
    select $2, login_id, account_id, now() + interval '1 day', '127.0.0.1', '' from member where member_id = $1`;
  const countSessions = `
    select count(*)::int as count from session s join member m on m.login_id = s.login_id where m.member_id = $1`;
  const count = async (id: number) => (await store.writer.query(countSessions, [id])).rows[0]?.count;

  test('end when their member is suspended, and do not come back', async () => {
    const id = await person('viewer', true);
    await store.writer.query(insertSession, [id, hashToken(newToken())]);
    await change(id, { roles: ['operator'] });
    expect(await count(id)).toBe(1);
    await change(id, { status: 'suspended' });
    await change(id, { status: 'active' });
    expect(await count(id)).toBe(0);
  });

  const selectLogin = 'select m.email, m.login_id from member m where m.member_id = $1';
  const isWaiting = `
    select from pg_stat_activity where wait_event_type = 'Lock' and query like '%activity_head%' limit 1`;

  test.each([
    ['the password is replaced', `update login set password = 'x' where login_id = $1`],
    ['the member is suspended', `update member set status = 'suspended' where login_id = $1`],
  ])('none starts when %s while the person signs in', async (_what, statement) => {
    const id = await person('viewer', true);
    const { rows } = await store.writer.query<{ email: string; login_id: number }>(selectLogin, [id]);
    const { email, login_id } = one(rows, 'find the login');
    const password = 'rhubarb quilt thimble canal';
    const phc = await hashNewPassword(password, { about: [], parameter: 'password', beside: null });
    await store.writer.query('update login set password = $2 where login_id = $1', [login_id, phc]);
    const app = await consoleOn(store, store.writer, () => Promise.reject(new Error('not in this test')));
    const other = await store.superuser('store');
    await other.query('begin');
    await other.query('select from activity_head where account_id = $1 for update', [accountId]);
    const caller = { requestId: 'x', address: '127.0.0.1', origin: 'http://localhost' };
    const answer = app
      .inject({
        method: 'POST',
        url: '/console/api/sign-in',
        headers: { 'dbvitals-caller': JSON.stringify(caller), origin: 'http://localhost' },
        payload: { email, password },
      })
      .then(({ statusCode }) => statusCode);
    const watch = await store.superuser('store');
    await expect.poll(async () => (await watch.query(isWaiting)).rowCount).toBe(1);
    await other.query(statement, [login_id]);
    await other.query('commit');
    expect(await answer).toBe(401);
    expect(await count(id)).toBe(0);
    await app.close();
  });
});
