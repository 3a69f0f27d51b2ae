import { describe, expect, test } from 'vitest';
import { makeAccount, type Plan } from './account.ts';
import { ask, read } from './ask.ts';
import { command } from './command.ts';
import { askable, ENDPOINTS } from './endpoints.ts';
import type { Failure } from './records.ts';

const GROUPS: Record<string, Plan[]> = {
  health: ['team', 'business', 'enterprise'],
  ops: ['business', 'enterprise'],
  activity: ['enterprise'],
  team: ['enterprise'],
};

const accounts = {
  individual: makeAccount({ plan: 'individual' }),
  team: makeAccount({ plan: 'team' }),
  business: makeAccount({ plan: 'business' }),
  enterprise: makeAccount({ plan: 'enterprise' }),
};
const plans: Plan[] = ['individual', 'team', 'business', 'enterprise'];

describe.each(plans)('plan %s', (plan) => {
  test.each(ENDPOINTS)('%s', async (path) => {
    const group = path.split('/')[3] ?? '';
    const { key } = await accounts[plan];
    const answer = await ask(askable(path), { key });
    if (GROUPS[group]?.includes(plan)) {
      expect(answer.status).toBe(path.includes('/1/') ? 404 : 200);
    } else {
      expect(answer.status).toBe(403);
      expect(answer.json<Failure>().error.code).toBe('tier_insufficient');
    }
  });

  test.each(Object.keys(GROUPS))('group %s, however its path is written', async (group) => {
    const { key } = await makeAccount({ plan });
    const path = { health: 'fleet', ops: 'stats', activity: '', team: 'roles' }[group] ?? '';
    const escaped = `%${group.charCodeAt(0).toString(16)}${group.slice(1)}`;
    for (const written of [
      `/api/v1/${group}/${path}?_=1`,
      `/api/v1/${group}?page=1`,
      `/api/v1/${escaped}/${path}`,
      `/%61pi/v1/${escaped}/${path}?_=/`,
      `//api//v1//${escaped}//${path}`,
      `/api/v1/${group}%2F${path}`,
    ]) {
      const { status } = await ask(written, { key });
      if (GROUPS[group]?.includes(plan)) expect([200, 400, 404], written).toContain(status);
      else if (plan !== 'individual' && written.includes('%2F'))
        expect([403, 404], written).toContain(status);
      else expect(status, written).toBe(403);
    }
  });

  test.each(Object.keys(GROUPS))('a path of group %s that is no endpoint', async (group) => {
    const { key } = await accounts[plan];
    const answer = await ask(`/api/v1/${group}/nothing`, { key });
    expect(answer.status).toBe(GROUPS[group]?.includes(plan) ? 404 : 403);
  });

  test('a path of no group', async () => {
    const { key } = await accounts[plan];
    const outside = [
      '/api/v1/nothing',
      '/api/v1',
      '/api/v1/',
      '/api/v2/health/fleet',
      '/api/v1/activityx',
      '/api/v1/opsx/y',
    ];
    for (const path of outside) {
      expect((await ask(path, { key })).status, path).toBe(plan === 'individual' ? 403 : 404);
    }
  });
});

test('a changed plan holds from the next request on', async () => {
  const { id, key } = await makeAccount({ plan: 'team' });
  const status = async () => (await ask('/api/v1/ops/stats', { key })).status;
  expect(await status()).toBe(403);
  await command(['account', 'change', String(id), '--plan', 'business']);
  expect(await status()).toBe(200);
  await command(['account', 'change', String(id), '--plan', 'individual']);
  const refused = await ask('/api/v1/ops/stats', { key });
  expect(refused.status).toBe(403);
  expect(refused.headers['x-ratelimit-limit']).toBe('0');
  await command(['account', 'change', String(id), '--plan', 'enterprise']);
  await read('/api/v1/team/roles', key);
});
