import { beforeAll, expect, test } from 'vitest';
import { fillAccount, makeAccount, makeKey } from './account.ts';
import { ask, each, read } from './ask.ts';
import { askable, ENDPOINTS } from './endpoints.ts';
import { fixtureJson } from './fixture-command.ts';

interface Tenant {
  id: number;
  key: string;
  /** In names of a connection, a member and a key of this account, and of no other. */
  mark: string;
  /** Of everything that the account has and the API shows or takes. */
  ids: Set<number>;
}

const ABSENT = 4_000_000_000_000;

let tenants: Tenant[];

beforeAll(async () => {
  tenants = await each(['ant', 'bee', 'cat'], 3, async (mark) => {
    const { id } = await makeAccount();
    await fillAccount(id, { connections: 5, tickets: 30, activity: 200, days: 5 });
    const account = ['--account', String(id), '--name', `only the ${mark}`];
    const url = `postgres://watcher:unspoken@${mark}.example.com/shop`;
    await fixtureJson(['connection', 'add', ...account, '--url', url]);
    const member = ['--email', `${mark}@example.com`, '--role', 'viewer'];
    await fixtureJson(['member', 'add', ...account, ...member]);
    const { key, id: keyId } = await makeKey(id, `only the ${mark}`);
    const ids = new Set([id, keyId]);
    for (const path of ENDPOINTS.filter((path) => !path.includes('/1/'))) {
      const whole = askable(path);
      const page = `${whole}${whole === path ? '?' : '&'}per_page=100`;
      collectIds(await read<unknown>(page, key).catch(() => read<unknown>(whole, key)), ids);
    }
    return { id, key, mark, ids };
  });
});

function collectIds(value: unknown, ids: Set<number>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (/(^|_)id$/.test(name) && typeof inner === 'number') ids.add(inner);
    else collectIds(inner, ids);
  }
}

/** Each account with each other one. */
function pairs(): { mine: Tenant; theirs: Tenant }[] {
  return tenants.flatMap((mine) =>
    tenants.filter((theirs) => theirs !== mine).map((theirs) => ({ mine, theirs })),
  );
}

test('another account is shown to nobody, by no endpoint', async () => {
  for (const { mine, theirs } of pairs()) {
    for (const path of ENDPOINTS) {
      const { text } = await ask(askable(path), { key: mine.key });
      expect(text).not.toMatch(new RegExp(`\\b${theirs.mark}\\b`));
      expect(text, 'the marks are there to be seen').toMatch(
        /connections$|members$|activity$/.test(path) ? new RegExp(`\\b${mine.mark}\\b`) : /./,
      );
    }
  }
});

const ways: [string, (id: number) => string][] = [
  ...ENDPOINTS.filter((path) => path.includes('/1/')).map((path): [string, (id: number) => string] => [
    `the path ${path}`,
    (id) => askable(path.replace('/1/', `/${id}/`)),
  ]),
  ['connection_id of alerts', (id) => `/api/v1/ops/alerts?connection_id=${id}`],
  ['connection_id', (id) => `/api/v1/ops/tickets?connection_id=${id}`],
  ['connection_id with other filters', (id) => `/api/v1/ops/tickets?status=open&connection_id=${id}&page=2`],
];

test.each(ways)('by %s every id of another account is as one that nobody has', async (_, path) => {
  let asked = 0;
  for (const { mine, theirs } of pairs()) {
    const absent = await ask(path(ABSENT), { key: mine.key });
    const foreign = [...theirs.ids].filter((id) => !mine.ids.has(id));
    await each(foreign, 8, async (id) => {
      const answer = await ask(path(id), { key: mine.key });
      asked++;
      expect([id, answer.status, comparable(answer.text, id)]).toEqual([
        id,
        absent.status,
        comparable(absent.text, ABSENT),
      ]);
    });
  }
  expect(asked).toBeGreaterThan(100);
});

// What was asked for may be told again.
function comparable(text: string, id: number): string {
  return text.replaceAll(String(id), 'ID');
}

test('by after_id only places in the own log are meant', async () => {
  for (const { mine, theirs } of pairs()) {
    await each([...theirs.ids], 8, async (id) => {
      const { data } = await read<{ data: { id: number }[] }>(
        `/api/v1/activity?order=asc&per_page=5&after_id=${id}`,
        mine.key,
      );
      expect(JSON.stringify(data)).not.toMatch(new RegExp(`\\b${theirs.mark}\\b`));
      expect(data.every((entry) => entry.id > id)).toBe(true);
    });
  }
});

test('what `Link` of another account leads to shows the own data', async () => {
  for (const { mine, theirs } of pairs()) {
    const { headers } = await ask('/api/v1/ops/tickets?per_page=5', { key: theirs.key });
    const [, next = ''] = /<([^>]+)>; *rel="next"/.exec(headers['link'] ?? '') ?? [];
    const url = new URL(next);
    const own = await read<{ data: { id: number }[] }>(url.pathname + url.search, mine.key);
    expect(own.data.length).toBeGreaterThan(0);
    expect(own.data.every(({ id }) => mine.ids.has(id))).toBe(true);
  }
});
