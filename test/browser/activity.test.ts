import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { press, tabTo } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let keyId = 0;
let connection = 0;

const SECRET = 'unspoken-in-the-log';

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 10, activity: 400 });
  owner = await service.owner();
  const made = await service.ask<{ id: number; key: string }>(owner, 'POST', '/keys', {
    name: 'Collector',
    expires_in: 86_400,
  });
  keyId = made.id;
  for (const path of ['fleet', 'connections', 'nothing']) {
    await fetch(`${service.origin}/api/v1/health/${path}`, {
      headers: { authorization: `Bearer ${made.key}` },
    });
  }
  const added = await service.ask<{ id: number; version: number }>(owner, 'POST', '/connections', {
    name: 'shop',
    url: 'postgres://watcher@db.example.com/shop',
  });
  connection = added.id;
  await service.ask(owner, 'PATCH', `/connections/${connection}`, {
    version: added.version,
    name: 'shop <b>\u202ehostile',
    password: SECRET,
    thresholds: { PG_CONN_SATURATION: { critical: 0.97 } },
  });
});

afterAll(closeWindows);

test('by keyboard alone: filter by key and status, open an entry, go on to its connection', async () => {
  const { page, complaints, close } = await openWindow(service.origin, owner);
  await visit(page, '/activity');
  await press(page, 'Filter');
  await press(page, /API key(?!s)/);
  await page.getByRole('option', { name: /Collector/ }).waitFor();
  await page.keyboard.type('Coll');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/activity?key=${keyId}`);
  // The three requests, and the key's creation.
  await page.getByText('4 entries in the whole log.').waitFor();
  await press(page, /^Status$/);
  await page.getByRole('option', { name: '404' }).waitFor();
  await page.keyboard.type('404');
  await page.keyboard.press('Enter');
  await page.waitForURL(/status=404/);
  await page.getByText('One entry in the whole log.').waitFor();
  const row = page.locator('.table-item').first();
  expect(await row.textContent()).toContain('requested GET /api/v1/health/nothing: 404');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/entry=\d+/);
  await row.getByText('Name of the API key').waitFor();
  await press(page, 'Show JSON');
  await page.getByText(`"api_key_id": ${keyId}`).waitFor();
  // A reload shows the same.
  await page.reload();
  await row.getByText('Name of the API key').waitFor();
  await tabTo(page, /^Show all entries about api key/i);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/activity?object=key%3A${keyId}`);
  await page.getByText('One entry in the whole log.').waitFor(); // requests are about no object
  expect(complaints).toEqual([]);
  await close();
});

test('a change is shown field by field with before and after, and never with a secret', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, `/activity?object=connection:${connection}`);
  await page.getByRole('link', { name: /^Ada Lovelace changed/ }).click();
  const changes = page.getByRole('table', { name: 'What changed' });
  await changes.waitFor();
  const rows = await changes.getByRole('row').allInnerTexts();
  expect(rows.map((row) => row.split('\t').map((cell) => cell.trim()))).toEqual([
    ['Field', 'Before', 'After'],
    ['Name', 'shop', 'shop <b>\\u202ehostile'],
    ['Thresholds: PG_CONN_SATURATION: critical', 'none', '0.97'],
    ['Password', 'Changed; the log does not have the values'],
  ]);
  const id = new URL(page.url()).searchParams.get('entry');
  // The entry's own address, with no other state.
  await visit(page, `/activity?entry=1&person=1`);
  await page.getByRole('heading', { name: 'Entry 1' }).waitFor();
  await visit(page, `/activity?entry=${id}`);
  await page.getByRole('table', { name: 'What changed' }).waitFor();
  expect(await page.content()).not.toContain(SECRET);
  await close();
});

test('an address that is none is refused with a sentence, and the whole log is said to be searched', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/activity');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('searchbox', { name: 'Address or network' }).fill('10.0.0.0/40');
  await page.getByText('address must be an IP address, or a network such as 192.0.2.0/24.').waitFor();
  await page.getByRole('searchbox', { name: 'Address or network' }).fill('100.64.9.0/24');
  await page.getByText('The whole log was searched. Try other filters.').waitFor();
  await page.getByRole('searchbox', { name: 'Address or network' }).fill('127.0.0.0/8');
  await page.locator('.table-item').first().waitFor();
  await close();
});

test('the filter is exported as CSV and NDJSON, and the log has who did it', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, `/activity?key=${keyId}&status=404`);
  for (const format of ['CSV', 'NDJSON']) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: `Export ${format}` }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^activity-[\\d-]+\\.${format.toLowerCase()}$`));
    let text = '';
    for await (const part of await download.createReadStream()) text += part;
    expect(text.trim().split('\n')).toHaveLength(format === 'CSV' ? 2 : 1);
    expect(text).toContain('/api/v1/health/nothing');
  }
  await visit(page, '/activity?action_type=activity_exported');
  await page
    .getByText(/up to entry [\d,]+ as CSV/i)
    .first()
    .waitFor();
  expect(await page.locator('.table-item').first().textContent()).toContain('Ada Lovelace');
  await close();
});

test('axe finds no violations in a searched log with an opened entry, and it fits', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, `/activity?object=connection:${connection}`);
  await page.getByRole('link', { name: /^Ada Lovelace changed/ }).click();
  const changes = page.getByRole('table', { name: 'What changed' });
  await changes.waitFor();
  await page.getByRole('button', { name: 'Show JSON' }).click();
  await inspect(page, 'activity-change');
  expect(await changes.count()).toBe(1);
  await close();
});
