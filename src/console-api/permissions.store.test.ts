import http from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../test/contract/running-service.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { hashToken, newToken } from '../platform/token.ts';
import { ROLES } from '../vocabulary/role-permissions.ts';
import { ROUTES } from './routes.ts';

let store: TestStore;
let service: Service;
/** Of a member with only that role. */
const tokens = new Map<string, string>();

beforeAll(async () => {
  store = await startTestStore();
  const [{ host, user, password, database } = {}] = store.address;
  service = await startService(
    {
      DATABASE_URL: `postgres://${user}:${password}@${encodeURIComponent(host ?? '')}/${database}`,
      DBVITALS_SECRET_KEY: '5e'.repeat(32),
    },
    ['--no-monitor'],
  );
  const account = await store.account();
  for (const { id } of ROLES) {
    await store.writer.query(
      `with person as (
         insert into login (account_id, email, name) values ($1, $3, $2) returning login_id
       )
       insert into member (account_id, name, email, roles, status, joined_at, login_id)
       select $1, $2, $3, array[$2], 'active', now(), login_id from person`,
      [account, id, `${id}@example.com`],
    );
    tokens.set(id, newToken());
    await signIn(id);
  }
});

afterAll(async () => {
  await service.stop();
  await store.stop();
});

/** Restores the session of a role's member after a route has ended it. */
async function signIn(role: string): Promise<void> {
  await store.writer.query(
    `insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent)
     select $2, login_id, account_id, now() + interval '1 day', '127.0.0.1', '' from member where email = $1
     on conflict (token_hash) do nothing`,
    [`${role}@example.com`, hashToken(tokens.get(role) ?? '')],
  );
}

interface Reply {
  status: number;
  message: string;
}

/** Asks a route for something that is not there, so that nothing changes; a stream is left at its first byte. */
function ask(method: string, path: string, headers: Record<string, string>): Promise<Reply> {
  const url = `${service.origin}/console/api${path.replace(':id', '999999999').replace(/:\w+/g, 'x')}`;
  const json = { 'content-type': 'application/json', 'content-length': method === 'GET' ? '0' : '2' };
  return new Promise((resolve, reject) => {
    const request = http.request(
      url,
      { method, headers: { ...json, ...headers }, agent: false },
      (response) => {
        let text = '';
        const done = () => {
          const message = response.statusCode === 403 ? JSON.parse(text).error.message : '';
          resolve({ status: response.statusCode ?? 0, message });
          request.destroy();
        };
        if (response.statusCode === 200) done();
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.once('end', done);
      },
    );
    request.once('error', reject);
    request.end(method === 'GET' ? undefined : '{}');
  });
}

const cookieOf = (role: string) => ({ cookie: `dbvitals_session=${tokens.get(role)}` });
const OPEN = ROUTES.filter(({ permission }) => permission === 'anyone');
const GUARDED = ROUTES.filter(({ permission }) => permission !== 'anyone');

test('who is not signed in reaches what it takes to sign in, and nothing else', async () => {
  expect(OPEN.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    [
      'GET /link/:token',
      'POST /link/:token',
      'POST /sign-in',
      'POST /sign-out',
      'POST /sign-in/passkey/options',
      'POST /sign-in/passkey',
      'GET /sign-in',
      'GET /sign-in/oidc',
      'GET /sign-in/oidc/callback',
      'GET /email/:token',
      'POST /email/:token/confirm',
      'GET /email/:token/unsubscribe',
      'POST /email/:token/unsubscribe',
      'GET /invitations',
      'POST /invitations/:id/accept',
      'POST /invitations/:id/decline',
    ].toSorted(),
  );
  const { origin } = service;
  // A person without an account needs a session to answer invitations.
  const invitations = OPEN.filter(({ path }) => path.startsWith('/invitations'));
  for (const { method, path } of [...GUARDED, ...invitations]) {
    expect((await ask(method, path, { origin })).status, `${method} ${path}`).toBe(401);
  }
});

test('whatever makes or changes a credential needs a proof of the last ten minutes', async () => {
  const hash = [hashToken(tokens.get('owner') ?? '')];
  const refused: string[] = [];
  for (const { method, path } of GUARDED) {
    await signIn('owner');
    await store.writer.query(
      `update session set proved_at = clock_timestamp() - interval '10 minutes' where token_hash = $1`,
      hash,
    );
    const { message } = await ask(method, path, { ...cookieOf('owner'), origin: service.origin });
    if (message.includes('within the last 10 minutes')) refused.push(`${method} ${path}`);
  }
  expect(refused.toSorted()).toEqual(
    [
      'POST /me/passkeys/options',
      'POST /me/passkeys',
      'DELETE /me/passkeys/:passkey',
      'POST /connections/:id/heartbeat',
      'POST /keys',
      'POST /collectors',
      'PATCH /keys/:id',
      'POST /keys/:id/regenerate',
      'POST /destinations',
      'PATCH /destinations/:id',
      'POST /destinations/:id/rotate-secret',
      'POST /members',
      'PATCH /members/:id',
      'POST /members/:id/link',
    ].toSorted(),
  );
  await signIn('owner');
  await store.writer.query('update session set proved_at = clock_timestamp() where token_hash = $1', hash);
});

test('no route that changes something takes a change from another origin', async () => {
  for (const { method, path } of ROUTES) {
    const strange = { ...cookieOf('owner'), origin: 'https://evil.example' };
    const { status } = await ask(method, path, strange);
    if (method === 'GET') expect(status, `${method} ${path}`).not.toBe(403);
    else expect(status, `${method} ${path}`).toBe(403);
  }
});

describe.each(ROLES)('$id', ({ id, permissions }) => {
  beforeEach(() => signIn(id));

  test.each(GUARDED.map((route) => ({ ...route, asked: `${route.method} ${route.path}` })))(
    '$asked ($permission)',
    async ({ method, path, permission }) => {
      const { status, message } = await ask(method, path, { ...cookieOf(id), origin: service.origin });
      const allowed = permission === 'member' || permissions.some((one) => one === permission);
      if (allowed) expect([401, 403, 500]).not.toContain(status);
      else expect({ status, message }).toEqual({ status: 403, message: expect.stringContaining(permission) });
    },
  );
});

test('several roles give what any of them allows', async () => {
  await signIn('operator');
  const { rows } = await store.writer.query<{ account_id: number }>(
    `update member set roles = array['operator', 'auditor'] where roles = array['operator'] returning account_id`,
  );
  expect(rows).toHaveLength(1);
  const guarded = GUARDED.map(({ permission }) => permission);
  for (const permission of ['connections:write', 'activity:read', 'members:write'] as const) {
    const route = GUARDED.find((one) => one.permission === permission);
    if (!route) throw new Error(`no route needs ${permission}: ${guarded}`);
    const { status } = await ask(route.method, route.path, {
      ...cookieOf('operator'),
      origin: service.origin,
    });
    expect(status === 403, `${permission}: ${status}`).toBe(permission === 'members:write');
  }
});
