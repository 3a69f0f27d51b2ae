import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeAccount, makeKey, makeKeylessAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask } from './ask.ts';
import { type SignedIn, sharedMember, signInAs } from './browser.ts';
import { integer, time } from './records.ts';

const FLEET = '/api/v1/health/fleet';
const DAYS_90 = 90 * 86_400;

interface Issued {
  id: number;
  key: string;
  expires_at: string | null;
  old_revoked_at?: string;
}

interface Row {
  id: number;
  name: string;
  note: string | null;
  last_four: string;
  state: string;
  created_at: string;
  created_by: { id: number; name: string | null } | null;
  expires_at: string | null;
  revoked_at: string | null;
  replaced_by: number | null;
  replaces: number | null;
  last_used_at: string | null;
  last_used_from: string | null;
  requests_24h: number | null;
  limited_24h: number | null;
  scopes: string[] | null;
  allowed_addresses: string[] | null;
  version: number;
}

interface Windows {
  data: { id: number; used: number; resets_at: string | null; last_used_at: string | null }[];
  limit: number;
  as_of: string;
}

interface Requests {
  data: { id: number; status: number; page_path: string; method: string; source_ip: string }[];
  next_before_id: number | null;
}

function create(browser: SignedIn, wanted: object = {}): Promise<Issued> {
  return browser.change('POST', '/keys', { name: 'collector', expires_in: DAYS_90, ...wanted });
}

async function rowsOf(browser: SignedIn): Promise<Map<number, Row>> {
  const { data } = await browser.get<{ data: Row[] }>('/keys');
  return new Map(data.map((row) => [row.id, row]));
}

async function statusWith(key: string): Promise<number> {
  return (await ask(FLEET, { key })).status;
}

/** How far the instant lies ahead, in seconds, to the nearest ten. */
const ahead = (instant: string | null | undefined) =>
  Math.round((Date.parse(instant ?? '') - Date.now()) / 10_000) * 10 + 0;

test('a key is shown once, works at once, and its row names its creator, last use and address', async () => {
  const account = await makeKeylessAccount();
  const admin = await signInAs(account, ['admin']);
  const made = await create(admin, { name: ' Grafana, prod ', note: 'asked for by Ada' });
  expect(made).toEqual({ id: integer, key: expect.stringMatching(/^dbv_live_\w{49}$/), expires_at: time });
  expect(ahead(made.expires_at)).toBe(DAYS_90);
  const fresh = {
    id: made.id,
    name: 'Grafana, prod',
    note: 'asked for by Ada',
    last_four: made.key.slice(-4),
    state: 'active',
    created_at: time,
    created_by: { id: admin.memberId, name: 'Test admin' },
    expires_at: made.expires_at,
    revoked_at: null,
    replaced_by: null,
    replaces: null,
    last_used_at: null,
    last_used_from: null,
    requests_24h: 0,
    limited_24h: 0,
    scopes: null,
    allowed_addresses: null,
    version: 1,
  };
  expect((await rowsOf(admin)).get(made.id)).toEqual(fresh);
  const idle = { id: made.id, used: 0, resets_at: null, last_used_at: null };
  expect((await admin.get<Windows>('/keys/windows')).data).toEqual([idle]);

  expect(await statusWith(made.key)).toBe(200);
  expect(await statusWith(made.key)).toBe(200);
  const used = { ...fresh, last_used_at: time, last_used_from: '127.0.0.1', requests_24h: 2 };
  expect((await rowsOf(admin)).get(made.id)).toEqual(used);
  const { data, limit, as_of } = await admin.get<Windows>('/keys/windows');
  expect(data).toEqual([{ id: made.id, used: 2, resets_at: time, last_used_at: time }]);
  expect(limit).toBe(100_000);
  const left = Date.parse(data[0]?.resets_at ?? '') - Date.parse(as_of);
  expect(left).toBeGreaterThan(30_000);
  expect(left).toBeLessThanOrEqual(60_000);

  const never = await create(admin, { name: 'for ever', expires_in: null });
  expect(never.expires_at).toBeNull();
  const listed = (await admin.ask('GET', '/keys')).text;
  expect(listed).not.toContain(made.key.slice(0, 20));
  expect([...(await rowsOf(admin)).keys()]).toEqual([never.id, made.id]);
});

test("requests refused with 429 are counted separately, against the plan's limit", async () => {
  const { id, key, keyId } = await makeAccount({ plan: 'team' });
  const owner = await signInAs(id, ['owner']);
  const statuses = [];
  for (let n = 0; n < 33; n++) statuses.push(await statusWith(key));
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
  const row = (await rowsOf(owner)).get(keyId);
  expect(row).toMatchObject({ requests_24h: 33, limited_24h: 3, created_by: null });
  const { data, limit } = await owner.get<Windows>('/keys/windows');
  expect(limit).toBe(30);
  expect(data).toMatchObject([{ id: keyId, used: 30 }]);
});

describe('regenerating', () => {
  test.each([0, 60, 900, 3_600, 21_600, 86_400])(
    'the old key lives on for %d s, and both rows tell of each other',
    async (overlap) => {
      const owner = await signInAs(await makeKeylessAccount(), ['owner']);
      const old = await create(owner, { note: 'kept' });
      const made = await owner.change<Issued>('POST', `/keys/${old.id}/regenerate`, { overlap });
      expect(made).toEqual({
        id: integer,
        key: expect.stringMatching(/^dbv_live_\w{49}$/),
        expires_at: time,
        old_revoked_at: time,
      });
      expect(ahead(made.old_revoked_at)).toBe(overlap);
      expect(ahead(made.expires_at)).toBe(DAYS_90);
      const rows = await rowsOf(owner);
      expect(rows.get(old.id)).toMatchObject({
        state: overlap === 0 ? 'revoked' : 'active',
        revoked_at: made.old_revoked_at,
        replaced_by: made.id,
        replaces: null,
      });
      expect(rows.get(made.id)).toMatchObject({
        name: 'collector',
        note: 'kept',
        state: 'active',
        created_by: { id: owner.memberId },
        replaced_by: null,
        replaces: old.id,
      });
      expect(await statusWith(old.key)).toBe(overlap === 0 ? 401 : 200);
      expect(await statusWith(made.key)).toBe(200);
      const windows = await owner.get<Windows>('/keys/windows');
      expect(windows.data.map(({ id }) => id)).toEqual(overlap === 0 ? [made.id] : [made.id, old.id]);

      const again = await owner.ask('POST', `/keys/${old.id}/regenerate`, { overlap });
      expect(again.status).toBe(409);
    },
  );

  test("the overlap never extends the old key's own expiry", async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const old = await create(owner, { expires_in: 300 });
    const made = await owner.change<Issued>('POST', `/keys/${old.id}/regenerate`, { overlap: 900 });
    expect(made.old_revoked_at).toBe(old.expires_at);
    expect(ahead(made.expires_at)).toBe(300);
  });

  test('an expired key is listed as expired and cannot be regenerated', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const { id, key } = await create(owner, { expires_in: 1 });
    await wait(1_100);
    expect(await statusWith(key)).toBe(401);
    expect((await rowsOf(owner)).get(id)).toMatchObject({ state: 'expired', revoked_at: null });
    expect((await owner.ask('POST', `/keys/${id}/regenerate`, { overlap: 0 })).status).toBe(409);
  });

  test('of two at the same time, one succeeds', async () => {
    const account = await makeKeylessAccount();
    const [one, other] = [await signInAs(account, ['owner']), await signInAs(account, ['admin'])];
    const { id } = await create(one);
    const answers = await Promise.all(
      [one, other].map((browser) => browser.ask('POST', `/keys/${id}/regenerate`, { overlap: 60 })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect((await rowsOf(one)).size).toBe(2);
  });
});

describe('revoking', () => {
  test('an unused key is revoked without typing its name', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const { id, key } = await create(owner);
    const { revoked_at } = await owner.change<{ revoked_at: string }>('POST', `/keys/${id}/revoke`, {});
    expect(ahead(revoked_at)).toBe(0);
    expect(await statusWith(key)).toBe(401);
    expect((await rowsOf(owner)).get(id)).toMatchObject({ state: 'revoked', revoked_at });
    const again = await owner.ask('POST', `/keys/${id}/revoke`, {});
    expect(again.status).toBe(409);
    expect(again.json()).toMatchObject({ error: { message: expect.stringContaining('already revoked') } });
  });

  test('a key used within the last hour is revoked only with its name', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const { id, key } = await create(owner, { name: 'Grafana' });
    expect(await statusWith(key)).toBe(200);
    expect((await owner.ask('POST', `/keys/${id}/revoke`, {})).status).toBe(409);
    const wrong = await owner.ask('POST', `/keys/${id}/revoke`, { name: 'grafana' });
    expect(wrong.status).toBe(400);
    expect(wrong.json()).toMatchObject({ error: { code: 'invalid_parameter', parameter: 'name' } });
    expect(await statusWith(key)).toBe(200);
    await owner.change('POST', `/keys/${id}/revoke`, { name: 'Grafana' });
    expect(await statusWith(key)).toBe(401);
  });

  test('a key in its overlap ends at once', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const old = await create(owner);
    await owner.change('POST', `/keys/${old.id}/regenerate`, { overlap: 86_400 });
    await owner.change('POST', `/keys/${old.id}/revoke`, {});
    expect(await statusWith(old.key)).toBe(401);
  });
});

test('the log names who created, regenerated and revoked a key, and contains no part of the key', async () => {
  const account = await makeKeylessAccount();
  const admin = await signInAs(account, ['admin']);
  const { key: reader } = await makeKey(account, 'reader');
  const old = await create(admin, { name: 'Grafana' });
  const made = await admin.change<Issued>('POST', `/keys/${old.id}/regenerate`, { overlap: 60 });
  await admin.change('POST', `/keys/${made.id}/revoke`, {});
  const { data } = await admin.get<{ data: { id: number; current: boolean }[] }>('/sessions');
  const actor = {
    actor_member_id: admin.memberId,
    actor_name: 'Test admin',
    source_ip: '127.0.0.1',
    session_id: data.find(({ current }) => current)?.id,
  };
  const log = await readLog(reader);
  const told = log.filter(({ properties }) => properties['actor_member_id'] === admin.memberId);
  expect(told.filter(({ action_type }) => action_type.startsWith('api_key'))).toMatchObject([
    {
      action_type: 'api_key_created',
      page_path: '/keys',
      properties: { ...actor, api_key_id: old.id, name: 'Grafana', expires_at: old.expires_at },
    },
    {
      action_type: 'api_key_regenerated',
      page_path: '/keys',
      properties: { ...actor, api_key_id: old.id, replaced_by: made.id, revoked_at: made.old_revoked_at },
    },
    { action_type: 'api_key_revoked', page_path: '/keys', properties: { ...actor, api_key_id: made.id } },
  ]);
  for (const { key } of [old, made]) expect(JSON.stringify(log)).not.toContain(key.slice(0, 20));
  expect(JSON.stringify(log)).not.toContain(admin.cookie()?.split('=')[1] ?? '');
});

test("a key's activity is paged and contains no other key's requests", async () => {
  const { id, key, keyId } = await makeAccount();
  const other = await makeKey(id, 'other');
  const auditor = await signInAs(id, ['auditor']);
  for (let n = 0; n < 102; n++) {
    await ask(n === 0 ? '/api/v1/health/connections/9/checks/latest' : FLEET, { key });
    if (n % 20 === 0) await ask(FLEET, { key: other.key });
  }
  const first = await auditor.get<Requests>(`/keys/${keyId}/requests`);
  expect(first.data).toHaveLength(100);
  expect(first.data[0]).toEqual({
    id: integer,
    occurred_at: time,
    method: 'GET',
    page_path: FLEET,
    status: 200,
    source_ip: '127.0.0.1',
    user_agent: null,
  });
  expect(first.next_before_id).toBe(first.data.at(-1)?.id);
  const second = await auditor.get<Requests>(`/keys/${keyId}/requests?before_id=${first.next_before_id}`);
  expect(second.data.map(({ status }) => status)).toEqual([200, 404]);
  expect(second.next_before_id).toBeNull();
  const ids = [...first.data, ...second.data].map((request) => request.id);
  expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  expect((await auditor.get<Requests>(`/keys/${other.id}/requests`)).data).toHaveLength(6);
});

test('a key of another account looks like one that does not exist', async () => {
  const { keyId } = await makeAccount();
  const owner = await signInAs(await makeKeylessAccount(), ['owner']);
  expect((await owner.get<{ data: Row[] }>('/keys')).data).toEqual([]);
  expect((await owner.get<Windows>('/keys/windows')).data).toEqual([]);
  for (const id of [keyId, 9_007_199_254_740_991, 'x', '0', '1e3']) {
    const answers = [
      await owner.ask('POST', `/keys/${id}/revoke`, {}),
      await owner.ask('POST', `/keys/${id}/regenerate`, { overlap: 0 }),
      await owner.ask('GET', `/keys/${id}/requests`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  }
});

const keyless = sharedMember(['owner']);
const shared = sharedMember(['owner']);
const valid = { name: 'x', expires_in: 60 };
const someKey = `dbv_live_${'A'.repeat(49)}`;

test.each([
  ['name', { expires_in: 60 }],
  ['name', { ...valid, name: '' }],
  ['name', { ...valid, name: ' \u00a0 ' }],
  ['name', { ...valid, name: 'x'.repeat(201) }],
  ['name', { ...valid, name: 'a\nb' }],
  ['name', { ...valid, name: 'a\0b' }],
  ['name', { ...valid, name: 'a\ud800b' }],
  ['name', { ...valid, name: 'a\u2028b' }],
  ['name', { ...valid, name: 5 }],
  ['name', { ...valid, name: `old ${someKey}` }],
  ['note', { ...valid, note: someKey }],
  ['note', { ...valid, note: 'x'.repeat(1_001) }],
  ['note', { ...valid, note: '\ud800' }],
  ['expires_in', { name: 'x' }],
  ['expires_in', { ...valid, expires_in: 0 }],
  ['expires_in', { ...valid, expires_in: 1.5 }],
  ['expires_in', { ...valid, expires_in: '60' }],
  ['expires_in', { ...valid, expires_in: 3_153_600_001 }],
  ['plan', { ...valid, plan: 'enterprise' }],
])('400 names %s (%#)', async (parameter, body) => {
  const owner = await keyless();
  const answer = await owner.ask('POST', '/keys', body);
  expect(answer.status).toBe(400);
  expect(answer.json()).toMatchObject({ error: { code: 'invalid_parameter', parameter } });
  expect(answer.text).not.toContain(someKey);
  expect((await rowsOf(owner)).size).toBe(0);
});

test.each([
  ['overlap', 'regenerate', {}],
  ['overlap', 'regenerate', { overlap: 61 }],
  ['overlap', 'regenerate', { overlap: -60 }],
  ['overlap', 'regenerate', { overlap: '60' }],
  ['name', 'revoke', { name: null }],
])('400 names %s: %s %j', async (parameter, action, body) => {
  const owner = await shared();
  const { id } = await create(owner);
  const answer = await owner.ask('POST', `/keys/${id}/${action}`, body);
  expect(answer.status).toBe(400);
  expect(answer.json()).toMatchObject({ error: { code: 'invalid_parameter', parameter } });
  expect((await rowsOf(owner)).get(id)).toMatchObject({ state: 'active', replaced_by: null });
});

test.each([
  '<script>alert(1)</script>',
  '\u202egrafana\u202c',
  '\u0131\u0307 \ud83d\udd11',
  "'; drop table api_key; --",
])('a name is kept as it is: %j', async (name) => {
  const owner = await shared();
  const { id } = await create(owner, { name });
  expect((await rowsOf(owner)).get(id)?.name).toBe(name);
});

describe('access', () => {
  const anyOwner = sharedMember(['owner']);
  const refused = async (browser: SignedIn, method: 'POST' | 'PATCH', path: string, body: object) => {
    const { status, text } = await browser.ask(method, path, body);
    return [status, JSON.parse(text).error.parameter];
  };

  test('a key is created with scopes and addresses, and changed; the next request is judged by it', async () => {
    const admin = await signInAs(await makeKeylessAccount(), ['admin']);
    const made = await create(admin, {
      scopes: ['team', 'health'],
      allowed_addresses: ['::1', '127.0.0.1/32'],
    });
    const row = (await rowsOf(admin)).get(made.id);
    expect(row).toMatchObject({
      scopes: ['health', 'team'],
      allowed_addresses: ['127.0.0.1', '::1'],
      version: 1,
    });
    expect(await statusWith(made.key)).toBe(200);
    const changed = await admin.change<{ version: number }>('PATCH', `/keys/${made.id}`, {
      version: 1,
      scopes: ['ops'],
    });
    expect(changed).toEqual({ version: 2 });
    expect((await rowsOf(admin)).get(made.id)).toMatchObject({
      scopes: ['ops'],
      allowed_addresses: ['127.0.0.1', '::1'],
      version: 2,
    });
    expect(await statusWith(made.key)).toBe(404);
    await admin.change('PATCH', `/keys/${made.id}`, {
      version: 2,
      scopes: null,
      allowed_addresses: ['10.0.0.0/8'],
    });
    expect(await statusWith(made.key)).toBe(401);
    await admin.change('PATCH', `/keys/${made.id}`, { version: 3, allowed_addresses: null });
    expect(await statusWith(made.key)).toBe(200);
  });

  test('of two members who change a key at once, the later one is told who was first', async () => {
    const account = await makeKeylessAccount();
    const [one, other] = [await signInAs(account, ['owner']), await signInAs(account, ['admin'])];
    const { id } = await create(one);
    await one.change('PATCH', `/keys/${id}`, { version: 1, scopes: ['health'] });
    const answer = await other.ask('PATCH', `/keys/${id}`, { version: 1, scopes: null });
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('Test owner changed it')]);
    expect((await rowsOf(one)).get(id)).toMatchObject({ scopes: ['health'] });
  });

  test.each([
    [{ scopes: [] }, 'scopes'],
    [{ scopes: '' }, 'scopes'],
    [{ scopes: 'health' }, 'scopes'],
    [{ scopes: ['all'] }, 'scopes'],
    [{ scopes: ['health', 'health'] }, 'scopes'],
    [{ allowed_addresses: [] }, 'allowed_addresses'],
    [{ allowed_addresses: [''] }, 'allowed_addresses'],
    [{ allowed_addresses: ['any'] }, 'allowed_addresses'],
    [{ allowed_addresses: ['10.0.0.1/8'] }, 'allowed_addresses'],
    [{ allowed_addresses: Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`) }, 'allowed_addresses'],
  ])('%j is refused, and never opens a key', async (rules, parameter) => {
    const owner = await anyOwner();
    expect(await refused(owner, 'POST', '/keys', { name: 'wrong', expires_in: null, ...rules })).toEqual([
      400,
      parameter,
    ]);
    const { id } = await create(owner, { scopes: ['health'], allowed_addresses: ['10.0.0.1'] });
    expect(await refused(owner, 'PATCH', `/keys/${id}`, { version: 1, ...rules })).toEqual([400, parameter]);
    expect((await rowsOf(owner)).get(id)).toMatchObject({
      scopes: ['health'],
      allowed_addresses: ['10.0.0.1'],
    });
  });

  test("a member without keys:write changes nothing, and another account's key is not there", async () => {
    const account = await makeKeylessAccount();
    const owner = await signInAs(account, ['owner']);
    const { id } = await create(owner, { scopes: ['health'] });
    for (const role of ['operator', 'auditor', 'viewer'] as const) {
      const member = await signInAs(account, [role]);
      expect((await member.ask('PATCH', `/keys/${id}`, { version: 1, scopes: null })).status, role).toBe(403);
    }
    const stranger = await signInAs(await makeKeylessAccount(), ['owner']);
    const bodyOf = (text: string) => JSON.parse(text).error;
    for (const [method, path] of [
      ['PATCH', ''],
      ['GET', '/usage'],
      ['GET', '/refusals'],
    ] as const) {
      const body = method === 'PATCH' ? { version: 1, scopes: null } : undefined;
      const [foreign, absent] = [
        await stranger.ask(method, `/keys/${id}${path}`, body),
        await stranger.ask(method, `/keys/999999999${path}`, body),
      ];
      expect([foreign.status, absent.status], path).toEqual([404, 404]);
      const text = JSON.stringify(bodyOf(foreign.text)).replaceAll(String(id), '999999999');
      expect(text).toBe(JSON.stringify(bodyOf(absent.text)));
    }
    expect((await rowsOf(owner)).get(id)).toMatchObject({ scopes: ['health'], version: 1 });
  });

  test('a key that has ended cannot be changed', async () => {
    const owner = await signInAs(await makeKeylessAccount(), ['owner']);
    const { id } = await create(owner);
    await owner.change('POST', `/keys/${id}/revoke`, {});
    expect((await owner.ask('PATCH', `/keys/${id}`, { version: 1, scopes: ['ops'] })).status).toBe(409);
  });
});

test('a key shows its use by endpoint and status, and where it was refused after its end', async () => {
  const owner = await signInAs(await makeKeylessAccount(), ['owner']);
  const { id, key } = await create(owner, { scopes: ['health'] });
  for (const path of [
    FLEET,
    FLEET,
    '/api/v1/ops/stats',
    '/api/v1/nothing',
    '/api/v1/health/connections/7/checks/latest',
  ])
    await ask(path, { key });
  const usage = await owner.get<{ counted: boolean; today: string; data: { day: string }[] }>(
    `/keys/${id}/usage`,
  );
  expect(usage.counted).toBe(true);
  expect(usage.data.map(({ day, ...counted }) => counted)).toEqual([
    { endpoint: null, status: 404, requests: 1 },
    { endpoint: '/health/connections/:id/checks/latest', status: 404, requests: 1 },
    { endpoint: '/health/fleet', status: 200, requests: 2 },
    { endpoint: '/ops/stats', status: 404, requests: 1 },
  ]);
  const refusals = () => owner.get<{ data: object[] }>(`/keys/${id}/refusals`);
  expect(await refusals()).toEqual({ data: [] });
  await owner.change('POST', `/keys/${id}/revoke`, { name: 'collector' });
  const other = await create(owner);
  expect(await statusWith(key)).toBe(401);
  await expect.poll(refusals).toEqual({
    data: [{ id: integer, occurred_at: time, reason: 'revoked', source_ip: '127.0.0.1', attempts: 1 }],
  });
  expect(await owner.get(`/keys/${other.id}/refusals`)).toEqual({ data: [] });
});
