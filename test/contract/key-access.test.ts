import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeAccount, makeKey } from './account.ts';
import { readLog } from './activity-log.ts';
import { type Answer, ask } from './ask.ts';
import { askable, ENDPOINTS } from './endpoints.ts';
import { fixtureJson } from './fixture-command.ts';
import { sendRaw } from './raw.ts';
import type { Entry } from './records.ts';
import { type Service, startService } from './running-service.ts';

const API = '/api/v1';
const PATHS: Record<string, string[]> = {
  health: [...endpointsOf('health'), '/health/nothing'],
  ops: [...endpointsOf('ops'), '/ops/stats?unknown=1', '/ops/nothing'],
  activity: [...endpointsOf('activity'), '/activity?page=0'],
  team: endpointsOf('team'),
};
const GROUPS = Object.keys(PATHS);

function endpointsOf(group: string): string[] {
  const paths = ENDPOINTS.map((path) => path.slice(API.length));
  return paths.filter((path) => path.split('/')[1] === group).map(askable);
}

interface Made {
  id: number;
  key: string;
  scopes: string[] | null;
  allowed_addresses: string[] | null;
}

const create = (account: number, ...options: string[]) =>
  fixtureJson<Made>(['key', 'create', '--account', `${account}`, '--name', 'restricted', ...options]);
const change = (id: number, ...options: string[]) =>
  fixtureJson<Made>(['key', 'change', `${id}`, ...options]);

// A second service of the same store, behind a proxy: whoever asks from here is the proxy.
let proxied: Service;
beforeAll(async () => {
  const settings = { ...inject('sharedStore'), DBVITALS_TRUST_PROXY: '127.0.0.1' };
  proxied = await startService(settings, ['--no-monitor']);
});
afterAll(() => proxied?.stop());

/** Asks the service behind a proxy as a client with this address. */
const askFrom = (address: string, key: string, path = `${API}/health/fleet`) =>
  ask(path, { key, origin: proxied.origin, headers: { 'x-forwarded-for': address } });

/** An answer's body, and its headers without those that differ with each answer. */
function shapeOf({ status, headers, text }: Answer) {
  const { 'x-request-id': _, date: __, ...rest } = headers;
  const varying = /^(?:x-ratelimit-|ratelimit)/;
  const same = Object.entries(rest).filter(([name]) => !varying.test(name));
  return { status, text, headers: Object.fromEntries(same) };
}

describe('scopes', () => {
  test.each(GROUPS)(
    'a key with the scope %s reaches its endpoints, and no other exists for it',
    async (scope) => {
      const { id, key: whole } = await makeAccount();
      const { key, scopes } = await create(id, '--scope', scope);
      expect(scopes).toEqual([scope]);
      const unknown = shapeOf(await ask(`${API}/nothing`, { key: whole }));
      for (const group of GROUPS) {
        for (const path of PATHS[group] ?? []) {
          const [answer, usual] = [await ask(API + path, { key }), await ask(API + path, { key: whole })];
          if (group === scope) expect(answer.status, path).toBe(usual.status);
          else expect(shapeOf(answer), path).toEqual(unknown);
        }
      }
    },
  );

  test('neither another method, another spelling nor a known entity tag is a way around', async () => {
    const { id, key: whole } = await makeAccount();
    const { key } = await create(id, '--scope', 'health');
    const primed = await ask(`${API}/team/roles`, { key: whole });
    expect(primed.status).toBe(200);
    const conditional = { 'if-none-match': primed.headers['etag'] ?? '' };
    expect((await ask(`${API}/team/roles`, { key: whole, headers: conditional })).status).toBe(304);
    expect((await ask(`${API}/team/roles`, { key, headers: conditional })).status).toBe(404);
    expect((await ask(`${API}/team/roles`, { key, headers: { 'if-none-match': '*' } })).status).toBe(404);
    for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) {
      const answer = await ask(`${API}/team/roles`, { key, method });
      expect([answer.status, answer.headers['allow']], method).toEqual([404, undefined]);
    }
    const spellings = [
      '//api//v1//team/roles',
      '/api/v1/team/roles/',
      '/api/v1/%74eam/roles',
      '/api/v1/team%2Froles',
    ];
    for (const path of [...spellings, '/api/v1/health/../team/roles', '/api/v1/Team/roles']) {
      expect((await ask(path, { key })).status, path).toBe(404);
    }
    expect((await ask('//api//v1//health/fleet/', { key })).status).toBe(200);
  });

  test('pipelined on one connection, and together with other keys of the account, each request gets its own answer', async () => {
    const { id, key: whole } = await makeAccount();
    const { key } = await create(id, '--scope', 'health');
    const line = (path: string, token: string, end = '') =>
      `GET ${API}${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${end}\r\n`;
    const pipelined = [
      line('/ops/stats', whole),
      line('/ops/stats', key),
      line('/health/fleet', key),
      line('/team/roles', key),
      line('/team/roles', whole),
      line('/activity', key, 'Connection: close\r\n'),
    ];
    const answers = await sendRaw(pipelined.join(''));
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 404, 200, 404]);

    // All of a turn join one batch of the gate, most from the cache.
    const wanted = Array.from({ length: 240 }, (_, n) => ({
      token: n % 2 === 0 ? key : whole,
      path: ['/ops/stats', '/health/fleet', '/team/roles'][n % 3] ?? '',
    }));
    const together = await Promise.all(wanted.map(({ token, path }) => ask(API + path, { key: token })));
    expect(together.map(({ status }) => status)).toEqual(
      wanted.map(({ token, path }) => (token === whole || path === '/health/fleet' ? 200 : 404)),
    );
  });

  test('a change holds for the next request, at each service, also for kept answers', async () => {
    const { id } = await makeAccount();
    const made = await create(id);
    expect(made).toMatchObject({ scopes: null, allowed_addresses: null });
    const services = [inject('origin'), proxied.origin];
    const statuses = async () =>
      Promise.all(
        services.flatMap((origin) =>
          ['/ops/stats', '/team/roles'].map(
            async (path) => (await ask(API + path, { key: made.key, origin })).status,
          ),
        ),
      );
    for (let round = 0; round < 5; round += 1) {
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      await change(made.id, '--scope', 'team');
      expect(await statuses()).toEqual([404, 200, 404, 200]);
      await change(made.id, '--scope', 'ops', '--scope', 'health');
      expect(await statuses()).toEqual([200, 404, 200, 404]);
      await change(made.id, '--scope', 'all');
    }
  });

  test('while scopes change under load, no answer is of an endpoint that was never in scope', async () => {
    const { id } = await makeAccount();
    const made = await create(id, '--scope', 'health');
    let isOver = false;
    const seen = new Set<string>();
    const load = Array.from({ length: 8 }, async (_, n) => {
      while (!isOver) {
        const path = ['/team/roles', '/ops/stats', '/health/fleet'][n % 3] ?? '';
        const { status } = await ask(API + path, {
          key: made.key,
          origin: n < 4 ? inject('origin') : proxied.origin,
        });
        seen.add(`${path} ${status}`);
      }
    });
    for (let round = 0; round < 4; round += 1) {
      await change(made.id, '--scope', 'health', '--scope', 'ops');
      await change(made.id, '--scope', 'health');
    }
    isOver = true;
    await Promise.all(load);
    expect(seen).not.toContain('/team/roles 200');
    expect(seen).not.toContain('/health/fleet 404');
    expect([...seen].filter((one) => one.endsWith(' 500'))).toEqual([]);
  });

  test('outside its scopes a request counts and is recorded, as for any unknown path', async () => {
    const { id, key: whole } = await makeAccount({ requestsPerMinute: 5 });
    const { id: keyId, key } = await create(id, '--scope', 'health');
    const answers: Answer[] = [];
    for (let n = 0; n < 6; n += 1) answers.push(await ask(`${API}/ops/stats`, { key }));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429]);
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual([
      '4',
      '3',
      '2',
      '1',
      '0',
      '0',
    ]);
    const log = await readLog(whole);
    const entries = log.filter(
      ({ properties }) => properties['api_key_id'] === keyId && properties['status'] === 404,
    );
    expect(entries.map(({ properties }) => properties['error_code'])).toEqual(Array(5).fill('not_found'));
  });

  test('a scope never adds to the plan: in scope the plan decides, out of scope there is nothing to upgrade to', async () => {
    const { id } = await makeAccount({ plan: 'team' });
    const { key } = await create(id, '--scope', 'ops');
    expect((await ask(`${API}/ops/stats`, { key })).status).toBe(403);
    expect((await ask(`${API}/team/roles`, { key })).status).toBe(404);
    const individual = await create((await makeAccount({ plan: 'individual' })).id, '--scope', 'health');
    for (const path of ['/health/fleet', '/ops/stats'])
      expect((await ask(API + path, { key: individual.key })).status).toBe(403);
  });
});

describe('allowed addresses', () => {
  const refusals = async (key: string) => {
    const answer = await ask(`${API}/activity?action_type=api_key_refused&order=asc`, { key });
    return answer.json<{ data: Entry[] }>().data.map(({ properties }) => properties);
  };

  test('other addresses get the answer of an unknown key, which is recorded and costs nothing', async () => {
    const { id, key: whole } = await makeAccount({ requestsPerMinute: 50 });
    const made = await create(id, '--allow', '203.0.113.0/24', '--allow', '2001:db8::/32');
    expect(made.allowed_addresses).toEqual(['2001:db8::/32', '203.0.113.0/24']);
    const unknown = shapeOf(await askFrom('198.51.100.1', `${whole.slice(0, -49)}${'0'.repeat(49)}`));
    expect(unknown.status).toBe(401);
    expect(shapeOf(await askFrom('198.51.100.1', made.key))).toEqual(unknown);
    expect(shapeOf(await askFrom('2001:db9::1', made.key, `${API}/nothing`))).toEqual(unknown);
    for (const address of [
      '203.0.113.1',
      '203.0.113.255',
      '2001:db8::1',
      '::ffff:203.0.113.9',
      '203.0.113.7:4000',
    ])
      expect((await askFrom(address, made.key)).status, address).toBe(200);
    expect((await askFrom('203.0.113.1', made.key)).headers['x-ratelimit-remaining']).toBe('44');
    await expect.poll(() => refusals(whole)).toHaveLength(2);
    const entry = {
      api_key_id: made.id,
      api_key_name: 'restricted',
      reason: 'address_not_allowed',
      attempts: 1,
    };
    expect(await refusals(whole)).toEqual(
      expect.arrayContaining([
        { ...entry, source_ip: '198.51.100.1' },
        { ...entry, source_ip: '2001:db9::1' },
      ]),
    );
  });

  test('a forwarded address counts only from a trusted proxy, and only the last one', async () => {
    const { id } = await makeAccount();
    const { key } = await create(id, '--allow', '203.0.113.7');
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    // This service trusts nobody: the client is 127.0.0.1.
    expect((await ask(`${API}/health/fleet`, { key, headers })).status).toBe(401);
    for (const name of ['x-real-ip', 'forwarded', 'x-client-ip', 'true-client-ip'])
      expect(
        (await ask(`${API}/health/fleet`, { key, headers: { [name]: '203.0.113.7' } })).status,
        name,
      ).toBe(401);
    expect((await askFrom('203.0.113.7', key)).status).toBe(200);
    expect((await askFrom('203.0.113.7, 198.51.100.1', key)).status).toBe(401);
    expect((await askFrom('198.51.100.1, 203.0.113.7', key)).status).toBe(200);
  });

  test('a change holds for the next request at each service, and also the answers that another key of the account primed', async () => {
    const { id, key: whole } = await makeAccount();
    const made = await create(id);
    const statuses = () =>
      Promise.all(
        [inject('origin'), proxied.origin].map(
          async (origin) => (await ask(`${API}/health/fleet`, { key: made.key, origin })).status,
        ),
      );
    for (let round = 0; round < 3; round += 1) {
      expect((await ask(`${API}/health/fleet`, { key: whole })).status).toBe(200);
      expect(await statuses()).toEqual([200, 200]);
      await change(made.id, '--allow', '203.0.113.7');
      expect(await statuses()).toEqual([401, 401]);
      await change(made.id, '--allow', '127.0.0.0/8');
      expect(await statuses()).toEqual([200, 200]);
      await change(made.id, '--allow', 'any');
    }
  });

  test('who may not use a key can neither spend its limit nor learn that it is spent', async () => {
    const { id } = await makeAccount({ requestsPerMinute: 3 });
    const { key } = await create(id, '--allow', '203.0.113.7');
    for (let n = 0; n < 10; n += 1) expect((await askFrom('198.51.100.2', key)).status).toBe(401);
    for (const left of ['2', '1', '0']) {
      expect((await askFrom('203.0.113.7', key)).headers['x-ratelimit-remaining']).toBe(left);
    }
    expect((await askFrom('203.0.113.7', key)).status).toBe(429);
    expect((await askFrom('198.51.100.2', key)).status).toBe(401);
  });
});

test('a regenerated key has the rules of the old one', async () => {
  const { id } = await makeAccount();
  const old = await create(id, '--scope', 'health', '--allow', '203.0.113.7');
  const next = await fixtureJson<Made>(['key', 'regenerate', `${old.id}`]);
  expect(next).toMatchObject({ scopes: ['health'], allowed_addresses: ['203.0.113.7'] });
  expect((await ask(`${API}/health/fleet`, { key: next.key })).status).toBe(401);
  expect((await askFrom('203.0.113.7', next.key)).status).toBe(200);
  expect((await askFrom('203.0.113.7', next.key, `${API}/ops/stats`)).status).toBe(404);
});

test('changes are recorded with what was before, and a change to the same is none', async () => {
  const { id, key: whole } = await makeAccount();
  const { id: keyId } = await makeKey(id, 'collector');
  await change(keyId, '--scope', 'activity', '--allow', '10.0.0.0/8');
  await change(keyId, '--scope', 'activity');
  const log = await readLog(whole);
  expect(log.filter(({ action_type }) => action_type === 'api_key_changed')).toMatchObject([
    {
      page_path: '/keys',
      properties: {
        api_key_id: keyId,
        name: 'collector',
        scopes: ['activity'],
        allowed_addresses: ['10.0.0.0/8'],
        before: { scopes: null, allowed_addresses: null },
      },
    },
  ]);
});
