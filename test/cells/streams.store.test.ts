import http from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, openBrowser } from '../contract/browser.ts';
import { commandJson } from '../contract/command.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { addAccount, addMember, type CellAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

let cells: TwoCells;
let service: Service;

beforeAll(async () => {
  cells = await startTwoCells();
  service = await startService(cells.environment, ['--no-monitor']);
});

afterAll(async () => {
  await service.stop();
  await cells.stop();
});

/** An account of a cell, and its owner in a browser. */
async function addOwned(cell: number): Promise<{ account: CellAccount; page: Browser }> {
  const account = await addAccount(cells.environment, cell);
  const named = { email: `ada-${account.id}@example.com`, role: 'owner' };
  const { linkToken } = await addMember(cells.environment, account.id, named);
  const page = openBrowser({ origin: service.origin });
  await page.change('POST', `/link/${linkToken}`, { password: 'seven quiet otters near the harbour' });
  return { account, page };
}

test.each([1, 2])('six streams of a member of cell %s begin at once', async (cell) => {
  const { account, page } = await addOwned(cell);
  const { id } = await fixtureJson<{ id: number }>(
    [
      'connection',
      'add',
      '--account',
      String(account.id),
      '--name',
      'shop',
      '--url',
      'postgres://watcher@127.0.0.1:1/shop',
    ],
    cells.environment,
  );
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => page.ask('GET', `/connections/${id}/run`)),
    );
    for (const { text } of answers) expect(text).toMatch(/^data: \{.*"state":"idle"/);
  }
});

const ENTRIES = 60_000;

/** Reads an export slowly until `hurry`, then fast. Resolves to the number of its lines, and to whether it ended as a whole. */
function readExport(page: Browser, hurry: AbortSignal): Promise<{ lines: number; whole: boolean }> {
  const headers = { cookie: page.cookie() ?? '' };
  return new Promise((resolve, reject) => {
    const request = http.get(
      `${service.origin}/console/api/activity/export`,
      { headers, agent: false },
      (response) => {
        let lines = 0;
        response.setEncoding('utf8').on('data', (text: string) => {
          lines += text.split('\n').length - 1;
          if (hurry.aborted) return;
          response.pause();
          setTimeout(() => response.resume(), 100);
        });
        response.once('close', () => resolve({ lines, whole: response.complete })).on('error', () => {});
      },
    );
    request.once('error', reject);
  });
}

test('an export that is under way is cut off once its account lives in another cell, and the next one is whole', async () => {
  const { account, page } = await addOwned(1);
  const root = await cells.first.superuser('store');
  await root.query(`
    insert into activity (account_id, id, occurred_at, action_type, page_path, request_id, api_key_id, status, method, source_ip)
      select account_id, last_id + n, last_at + n * interval '1 microsecond', 'api_request', '/api/v1/health/fleet',
             gen_random_uuid(), 1, 200, 'GET', '192.0.2.7'
        from activity_head, generate_series(1, ${ENTRIES}) n where account_id = ${account.id};
    update activity_head set last_id = last_id + ${ENTRIES}, last_at = last_at + ${ENTRIES} * interval '1 microsecond'
     where account_id = ${account.id}`);
  const hurry = new AbortController();
  const exported = readExport(page, hurry.signal);
  await commandJson(['account', 'move', String(account.id), '--to', '2'], { environment: cells.environment });
  hurry.abort();
  const { lines, whole } = await exported;
  expect(whole).toBe(false);
  expect(lines).toBeLessThan(ENTRIES);

  const again = await readExport(page, hurry.signal);
  expect(again.whole).toBe(true);
  expect(again.lines).toBeGreaterThan(ENTRIES);
});
