import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeKey, makeKeylessAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { type Browser, openBrowser, type Role, type SignedIn, sharedMember, signInAs } from './browser.ts';
import { integer, time } from './records.ts';

interface Member {
  id: number;
  name: string;
  email: string;
  roles: Role[];
  status: string;
  joined: boolean;
  last_active_at: string | null;
  link_expires_at: string | null;
  may_change: boolean;
  version: string;
}

interface Link {
  purpose: string;
  url: string;
  expires_at: string;
}

const password = 'correct horse battery';
const someEmail = () => `${randomUUID()}@example.com`;

async function membersOf(browser: SignedIn): Promise<Map<number, Member>> {
  const { data } = await browser.get<{ data: Member[] }>('/members');
  return new Map(data.map((member) => [member.id, member]));
}

function invite(by: SignedIn, roles: Role[], email = someEmail()): Promise<{ member: Member; link: Link }> {
  return by.change('POST', '/members', { name: 'Ada Lovelace', email, roles });
}

/** Opens a link in a browser of one's own. */
async function open({ url }: Link): Promise<Browser> {
  const browser = openBrowser();
  await browser.change('POST', new URL(url).pathname, { name: 'Ada Lovelace', password });
  return browser;
}

/** Changes a member as they are now; gives the answer, whatever it is. */
async function alter(by: SignedIn, id: number, changes: object) {
  const version = (await membersOf(by)).get(id)?.version;
  return by.ask('PATCH', `/members/${id}`, { version, ...changes });
}

async function statusOf(answer: Promise<{ status: number }>): Promise<number> {
  return (await answer).status;
}

test('an invited member joins by the link and has the given roles', async () => {
  const admin = await signInAs(await makeKeylessAccount(), ['admin']);
  const email = someEmail();
  const { member, link } = await invite(admin, ['viewer', 'auditor'], email);
  expect(member).toEqual({
    id: integer,
    name: 'Ada Lovelace',
    email,
    roles: ['viewer', 'auditor'],
    status: 'invited',
    joined_at: time,
    last_active_at: null,
    joined: false,
    link_expires_at: link.expires_at,
    may_change: true,
    version: expect.stringMatching(/^\S+$/),
  });
  expect(link).toEqual({
    purpose: 'invitation',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/link\/[\w-]{43}$/),
    expires_at: time,
  });
  const ada = await open(link);
  expect(await ada.get('/me')).toMatchObject({ member: { id: member.id, roles: ['viewer', 'auditor'] } });
  expect(await statusOf(ada.ask('GET', '/members'))).toBe(200);
  expect(
    await statusOf(ada.ask('POST', '/members', { name: 'x', email: someEmail(), roles: ['viewer'] })),
  ).toBe(403);
  expect((await membersOf(admin)).get(member.id)).toMatchObject({
    status: 'active',
    joined: true,
    link_expires_at: null,
  });
});

describe('members cannot exceed their own roles', () => {
  test('an administrator can neither make nor change an owner', async () => {
    const account = await makeKeylessAccount();
    const [owner, admin] = [await signInAs(account, ['owner']), await signInAs(account, ['admin'])];
    const second = await signInAs(account, ['viewer', 'owner']);
    const body = { name: 'x', email: someEmail(), roles: ['owner'] };
    expect(await statusOf(admin.ask('POST', '/members', body))).toBe(403);
    expect(await statusOf(alter(admin, admin.memberId, { roles: ['admin', 'owner'] }))).toBe(403);
    for (const { memberId } of [owner, second]) {
      expect((await membersOf(admin)).get(memberId)?.may_change).toBe(false);
      const refusals = [
        await alter(admin, memberId, { roles: ['viewer'] }),
        await alter(admin, memberId, { status: 'suspended' }),
        await alter(admin, memberId, { name: 'x' }),
        await admin.ask('POST', `/members/${memberId}/link`),
        await admin.ask('DELETE', `/members/${memberId}`),
      ];
      expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    }
    const roles = [...(await membersOf(owner)).values()].map((member) => member.roles);
    expect(roles).toEqual([['owner'], ['admin'], ['viewer', 'owner']]);
  });

  test('an administrator can change all other members, including administrators', async () => {
    const account = await makeKeylessAccount();
    const [admin, other] = [await signInAs(account, ['admin']), await signInAs(account, ['admin'])];
    const { member } = await invite(admin, ['operator']);
    expect((await membersOf(admin)).get(other.memberId)?.may_change).toBe(true);
    expect(await statusOf(alter(admin, member.id, { roles: ['admin'] }))).toBe(200);
    expect(await statusOf(alter(admin, other.memberId, { roles: ['viewer'] }))).toBe(200);
    expect(await statusOf(other.ask('GET', '/members'))).toBe(403);
  });

  test('an owner can make owners', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const { member } = await invite(owner, ['viewer']);
    expect(await statusOf(alter(owner, member.id, { roles: ['owner'] }))).toBe(200);
    await invite(owner, ['owner', 'admin']);
  });
});

describe('an account always has an owner who can sign in', () => {
  test('the last owner can neither step down nor be removed', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    await invite(owner, ['owner']); // who has not joined is none yet
    const refusals = [
      await alter(owner, owner.memberId, { roles: ['admin'] }),
      await alter(owner, owner.memberId, { status: 'suspended' }),
      await owner.ask('DELETE', `/members/${owner.memberId}`),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([409, 409, 409]);
    expect((await membersOf(owner)).get(owner.memberId)).toMatchObject({
      roles: ['owner'],
      status: 'active',
    });
    expect(await statusOf(alter(owner, owner.memberId, { name: 'Still me' }))).toBe(200);
  });

  test('one of two owners can step down', async () => {
    const account = await makeKeylessAccount();
    const [one, other] = [await signInAs(account, ['owner']), await signInAs(account, ['owner'])];
    expect(await statusOf(alter(one, one.memberId, { roles: ['viewer'] }))).toBe(200);
    expect(await statusOf(one.ask('GET', '/members'))).toBe(403);
    expect(await statusOf(other.ask('DELETE', `/members/${other.memberId}`))).toBe(409);
  });

  test('when two owners demote each other at once, one owner is left', async () => {
    const account = await makeKeylessAccount();
    const [one, other] = [await signInAs(account, ['owner']), await signInAs(account, ['owner'])];
    const members = await membersOf(one);
    const demote = (by: SignedIn, { memberId }: SignedIn) =>
      by.ask('PATCH', `/members/${memberId}`, { version: members.get(memberId)?.version, roles: ['viewer'] });
    const answers = await Promise.all([demote(one, other), demote(other, one)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
  });
});

test('the later of two edits gets a conflict that names the first, and changes nothing', async () => {
  const account = await makeKeylessAccount();
  const [one, other] = [await signInAs(account, ['owner']), await signInAs(account, ['admin'])];
  const { member } = await invite(one, ['viewer']);
  const change = { version: member.version, roles: ['operator'] };
  const changed = await one.change<Member>('PATCH', `/members/${member.id}`, change);
  expect(changed.roles).toEqual(['operator']);
  const later = await other.ask('PATCH', `/members/${member.id}`, { ...change, roles: ['auditor'] });
  expect(later.status).toBe(409);
  expect(later.json()).toMatchObject({
    error: {
      code: 'conflict',
      message: expect.stringMatching(/^Test owner changed it after you opened it\./),
    },
  });
  expect((await membersOf(other)).get(member.id)?.roles).toEqual(['operator']);
  const again = { version: changed.version, roles: ['auditor'] };
  expect(await statusOf(other.ask('PATCH', `/members/${member.id}`, again))).toBe(200);
});

test('an edit on a page opened before the member joined gets a conflict that names the member', async () => {
  const owner = await signInAs(await makeKeylessAccount(), ['owner']);
  const { member, link } = await invite(owner, ['viewer']);
  await open(link);
  const change = { version: member.version, roles: ['operator'] };
  const later = await owner.ask('PATCH', `/members/${member.id}`, change);
  expect(later.status).toBe(409);
  expect(later.json()).toMatchObject({
    error: {
      code: 'conflict',
      message: expect.stringMatching(/^Ada Lovelace changed it after you opened it\./),
    },
  });
});

test('a suspended member is signed out at once, and can sign in again once active', async () => {
  const account = await makeKeylessAccount();
  const [owner, operator] = [await signInAs(account, ['owner']), await signInAs(account, ['operator'])];
  const link = await owner.change<Link>('POST', `/members/${operator.memberId}/link`);
  expect(link.purpose).toBe('reset');
  expect(await statusOf(alter(owner, operator.memberId, { status: 'suspended' }))).toBe(200);
  expect(await statusOf(operator.ask('GET', '/me'))).toBe(401);
  expect(await statusOf(openBrowser().ask('POST', new URL(link.url).pathname, { password }))).toBe(404);
  expect(await statusOf(owner.ask('POST', `/members/${operator.memberId}/link`))).toBe(409);
  expect(await statusOf(alter(owner, operator.memberId, { status: 'active' }))).toBe(200);
  const again = openBrowser();
  await again.change('POST', '/sign-in', { email: operator.email, password: operator.password });
  expect(await again.get('/me')).toMatchObject({ member: { id: operator.memberId } });
});

test('a removed member is signed out at once', async () => {
  const account = await makeKeylessAccount();
  const [owner, operator] = [await signInAs(account, ['owner']), await signInAs(account, ['operator'])];
  await owner.change('DELETE', `/members/${operator.memberId}`);
  expect(await statusOf(operator.ask('GET', '/me'))).toBe(401);
  expect([...(await membersOf(owner)).keys()]).toEqual([owner.memberId]);
  expect(await statusOf(owner.ask('DELETE', `/members/${operator.memberId}`))).toBe(404);
});

describe('an e-mail address', () => {
  test('can be corrected until the member joined, which revokes the link sent to the wrong address', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const { member, link } = await invite(owner, ['viewer']);
    const email = someEmail();
    expect(await statusOf(alter(owner, member.id, { email }))).toBe(200);
    expect((await membersOf(owner)).get(member.id)).toMatchObject({ email, link_expires_at: null });
    expect(await statusOf(openBrowser().ask('GET', new URL(link.url).pathname))).toBe(404);
    const ada = await open(await owner.change<Link>('POST', `/members/${member.id}/link`));
    expect(await ada.get('/me')).toMatchObject({ login: { email } });
    expect(await statusOf(alter(owner, member.id, { email: someEmail() }))).toBe(409);
  });

  test('is unique in an account, ignoring case', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const { member } = await invite(owner, ['viewer']);
    const body = { name: 'x', email: member.email.toUpperCase(), roles: ['viewer'] };
    const taken = await owner.ask('POST', '/members', body);
    expect(taken.status).toBe(409);
    expect(taken.json()).toMatchObject({ error: { parameter: 'email' } });
    const other = await invite(owner, ['viewer']);
    expect(await statusOf(alter(owner, other.member.id, { email: member.email }))).toBe(409);
    expect((await membersOf(owner)).size).toBe(3);
  });
});

describe('a link', () => {
  test('to a new password ends the old password and its sessions', async () => {
    const account = await makeKeylessAccount();
    const [admin, viewer] = [await signInAs(account, ['admin']), await signInAs(account, ['viewer'])];
    const older = await admin.change<Link>('POST', `/members/${viewer.memberId}/link`);
    const link = await admin.change<Link>('POST', `/members/${viewer.memberId}/link`);
    expect(await statusOf(openBrowser().ask('GET', new URL(older.url).pathname))).toBe(404);
    const again = await open(link);
    expect(await again.get('/me')).toMatchObject({ member: { id: viewer.memberId } });
    expect(await statusOf(viewer.ask('GET', '/me'))).toBe(401);
    const { email } = viewer;
    expect(await statusOf(openBrowser().ask('POST', '/sign-in', { email, password: viewer.password }))).toBe(
      401,
    );
  });

  test('cannot be made for oneself, and reveals nothing of other accounts', async () => {
    const [first, second] = [await makeKeylessAccount(), await makeKeylessAccount()];
    const [admin, viewer] = [await signInAs(first, ['admin']), await signInAs(first, ['viewer'])];
    expect(await statusOf(admin.ask('POST', `/members/${admin.memberId}/link`))).toBe(409);
    const before = (await membersOf(admin)).get(viewer.memberId);
    const stranger = await signInAs(second, ['owner']);
    const { link } = await invite(stranger, ['viewer'], viewer.email);
    await open(link);
    expect((await membersOf(admin)).get(viewer.memberId)).toEqual(before);
    const reset = await admin.change<Link>('POST', `/members/${viewer.memberId}/link`);
    expect(reset.purpose).toBe('reset');
  });
});

test('a member of another account looks like one that does not exist', async () => {
  const [one, other] = [
    await signInAs(await makeKeylessAccount(), ['owner']),
    await signInAs(await makeKeylessAccount(), ['viewer']),
  ];
  for (const id of [other.memberId, 9_007_199_254_740_991, 'x']) {
    const answers = [
      await one.ask('PATCH', `/members/${id}`, { version: 'x', name: 'x' }),
      await one.ask('DELETE', `/members/${id}`),
      await one.ask('POST', `/members/${id}/link`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  }
  expect(await statusOf(other.ask('GET', '/me'))).toBe(200);
});

test('an individual account has no team', async () => {
  const owner = await signInAs(await makeKeylessAccount({ kind: 'individual' }), ['owner']);
  const body = { name: 'x', email: someEmail(), roles: ['viewer'] };
  expect(await statusOf(owner.ask('POST', '/members', body))).toBe(409);
  expect((await membersOf(owner)).size).toBe(1);
});

test('the log says who did what to whom, and contains no part of a link', async () => {
  const account = await makeKeylessAccount();
  const owner = await signInAs(account, ['owner']);
  const { key } = await makeKey(account, 'reader');
  const from = (await readLog(key)).length;
  const { member, link } = await invite(owner, ['viewer']);
  await alter(owner, member.id, { roles: ['auditor'], name: 'Ada King' });
  await owner.change('DELETE', `/members/${member.id}`);
  const told = (await readLog(key, from)).filter(({ action_type }) => action_type !== 'api_request');
  const actor = {
    actor_member_id: owner.memberId,
    actor_name: 'Test owner',
    source_ip: '127.0.0.1',
    session_id: integer,
  };
  const { id: member_id, email } = member;
  expect(
    told.map(({ action_type, page_path, properties }) => ({ action_type, page_path, properties })),
  ).toEqual([
    {
      action_type: 'member_added',
      page_path: '/team',
      properties: { ...actor, member_id, name: 'Ada Lovelace', email, roles: ['viewer'], status: 'invited' },
    },
    {
      action_type: 'link_created',
      page_path: '/team',
      properties: { ...actor, member_id, purpose: 'invitation', expires_at: link.expires_at },
    },
    {
      action_type: 'member_changed',
      page_path: '/team',
      properties: {
        ...actor,
        member_id,
        name: 'Ada King',
        email,
        roles: ['auditor'],
        status: 'invited',
        changed: ['name', 'roles'],
        from: { name: 'Ada Lovelace', roles: ['viewer'] },
        to: { name: 'Ada King', roles: ['auditor'] },
      },
    },
    {
      action_type: 'member_removed',
      page_path: '/team',
      properties: { ...actor, member_id, name: 'Ada King', email, roles: ['auditor'], status: 'invited' },
    },
  ]);
  expect(JSON.stringify(told)).not.toContain(link.url.slice(-43));
});

const alone = sharedMember(['owner']);
const person = { name: 'x', email: 'x@example.com', roles: ['viewer'] };

test.each([
  ['name', { ...person, name: ' ' }],
  ['name', { ...person, name: 'a\0b' }],
  ['email', { ...person, email: 'x' }],
  ['email', { ...person, email: 'a\0@b' }],
  ['email', { ...person, email: 'a\ud800@b' }],
  ['email', { ...person, email: `${'x'.repeat(200)}@b` }],
  ['roles', { ...person, roles: [] }],
  ['roles', { ...person, roles: ['viewer', 'viewer'] }],
  ['roles', { ...person, roles: ['root'] }],
  ['roles', { ...person, roles: 'viewer' }],
  ['status', { ...person, status: 'active' }],
])('400 names %s (%#)', async (parameter, body) => {
  const owner = await alone();
  const answer = await owner.ask('POST', '/members', body);
  expect(answer.status).toBe(400);
  expect(answer.json()).toMatchObject({ error: { code: 'invalid_parameter', parameter } });
  expect((await membersOf(owner)).size).toBe(1);
});

test.each([{ version: 'x' }, { name: 'x' }, { version: 'x', status: 'invited' }, { version: 'x', id: 7 }])(
  '400: a change of %j',
  async (body) => {
    const owner = await alone();
    expect(await statusOf(owner.ask('PATCH', `/members/${owner.memberId}`, body))).toBe(400);
  },
);
