import { expect, test } from 'vitest';
import type { ApiKey } from './api-key-lifetime.ts';
import type { ApiKeyState } from './api-key-state.ts';
import { sorted } from './key-sort.ts';

function now(id: number, changes: Partial<ApiKey>, lastUsedAt: string | null = null): ApiKeyState {
  const subject: ApiKey = {
    id,
    name: `key ${id}`,
    note: null,
    last_four: 'a1B2',
    state: 'active',
    created_by: null,
    created_at: `2026-11-0${id}T00:00:00.000Z`,
    expires_at: null,
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
    ...changes,
  };
  return { subject, lastUsedAt, status: 'active', window: undefined };
}

const keys = [
  now(3, { name: 'C', expires_at: '2026-12-01T00:00:00.000Z', requests_24h: 5 }, '2026-11-21T00:00:00.000Z'),
  now(2, { name: 'a', requests_24h: null }),
  now(1, { name: 'b', expires_at: '2027-01-01T00:00:00.000Z', requests_24h: 5 }, '2026-11-20T00:00:00.000Z'),
];
const order = (sort: string) => sorted(keys, sort).map(({ subject }) => subject.id);

test.each([
  ['-created', [3, 2, 1]],
  ['created', [1, 2, 3]],
  ['name', [2, 1, 3]],
  ['-used', [3, 1, 2]],
  ['expires', [3, 1, 2]], // without an end: last
  ['-requests', [3, 1, 2]], // ties: newest first; not counted yet: last
  ['whatever', [3, 2, 1]], // an untrusted URL
])('sorted by %s', (sort, expected) => {
  expect(order(sort)).toEqual(expected);
});
