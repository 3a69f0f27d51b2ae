import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { press, tabTo, write } from './keyboard.ts';

const HOSTILE = '"><img src=x onerror=alert(1)>\u202e';

let service: ConsoleAccount;
let owner: Person;
let viewer: Person;
let watched: number;

interface Overrides {
  overrides: { tag: string; check_id: string; name: string; value: number; changed_by: string }[];
}

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 4, tickets: 40, activity: 60 });
  owner = await service.owner();
  viewer = await service.member('Vera Viewer', ['viewer']);
  // A connection with a real run: the store watches itself.
  const { id } = await service.command<{ id: number }>(
    'connection',
    'add',
    '--account',
    String(service.accountId),
    '--name',
    HOSTILE,
    '--url',
    service.storeUrl(),
    '--tag',
    'env:test',
  );
  watched = id;
  await service.command('check', 'run', '--connection', String(id));
});

afterAll(closeWindows);

const open = (person = owner) => openWindow(service.origin, person);
const overrides = async () => (await service.ask<Overrides>(owner, 'GET', '/thresholds')).overrides;
const set = (body: object) => service.ask(owner, 'POST', '/thresholds', body);
const silence = (id: number, check_id: string) =>
  service.ask(owner, 'POST', `/connections/${id}/silences`, {
    check_id,
    reason: 'accepted_risk',
    note: HOSTILE,
  });

test('by keyboard alone: find a check, preview a threshold of a tag, set it, and take it back', async () => {
  const { page, complaints, close } = await open();
  await visit(page, '/thresholds');
  await page.keyboard.press('/');
  await page.keyboard.type('max_conn');
  await page.waitForURL(/q=max_conn/);
  await expect.poll(() => page.locator('.table-item').count()).toBe(1);
  await page.keyboard.press('Tab');
  await tabTo(page, /max_connections/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/check=PG_MAX_CONN_HIGH/);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('All connections use the defaults.').waitFor();
  await tabTo(page, 'All connections');
  await page.keyboard.press('ArrowDown');
  await write(page, 'Tag', 'ENV:Test');
  await write(page, 'Info at', 'many');
  await dialog.getByText('Enter a number from 0 to 1e15.').waitFor();
  await write(page, 'Info at', '5');
  await press(page, 'Preview');
  const preview = dialog.getByRole('status', { name: 'Preview' });
  await preview.getByText(/In the last runs of 1 connection, 1 finding would have appeared/).waitFor();
  await preview.getByText(/no finding → info/).waitFor();
  expect(await overrides()).toEqual([]);
  await press(page, 'Save');
  await page.getByText('Thresholds saved for connections with the tag ENV:Test.').first().waitFor();
  expect(await overrides()).toMatchObject([
    { tag: 'env:test', check_id: 'PG_MAX_CONN_HIGH', name: 'info', value: 5 },
  ]);
  // The next run finds what the preview said.
  const run = await service.command<{ checks: { check_id: string; status: string }[] }>(
    'check',
    'run',
    '--connection',
    String(watched),
  );
  expect(run.checks.find(({ check_id }) => check_id === 'PG_MAX_CONN_HIGH')?.status).toBe('info');

  await page.locator('.table-item .tag', { hasText: 'env:test' }).waitFor();
  await visit(page, '/thresholds?check=PG_MAX_CONN_HIGH');
  await press(page, 'Edit thresholds of env:test');
  await write(page, 'Info at', '');
  await page.keyboard.press('Delete');
  await press(page, 'Save');
  await page
    .getByText(/^Thresholds saved/)
    .first()
    .waitFor();
  expect(await overrides()).toEqual([]);
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('z');
  await page.getByText('Thresholds restored').waitFor();
  expect(await overrides()).toMatchObject([{ tag: 'env:test', name: 'info', value: 5 }]);

  // What somebody changed since stays.
  await visit(page, '/thresholds?check=PG_MAX_CONN_HIGH');
  await press(page, 'Edit thresholds of env:test');
  await write(page, 'Info at', '6');
  await press(page, 'Save');
  await dialog.waitFor({ state: 'detached' });
  await set({ tag: 'env:test', thresholds: { PG_MAX_CONN_HIGH: { info: 7 } } });
  await page.keyboard.press('z');
  await page.getByText('Not undone. Somebody has changed these thresholds since.').waitFor();
  expect(await overrides()).toMatchObject([{ tag: 'env:test', name: 'info', value: 7 }]);
  await set({ tag: 'env:test', thresholds: { PG_MAX_CONN_HIGH: { info: null } } });
  expect(complaints).toEqual([]);
  await close();
});

test('what somebody else set meanwhile is replaced only at the second attempt', async () => {
  const { page, complaints, close } = await open();
  await visit(page, '/thresholds?check=PG_MAX_CONN_HIGH');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('All connections use the defaults.').waitFor();
  await write(page, 'Info at', '6');
  await set({ thresholds: { PG_MAX_CONN_HIGH: { info: 7 } } });
  await press(page, 'Save');
  await dialog.getByText('Somebody has changed these thresholds meanwhile.').waitFor();
  expect(await overrides()).toMatchObject([{ tag: '', name: 'info', value: 7 }]);
  await press(page, 'Save');
  await dialog.waitFor({ state: 'detached' });
  expect(await overrides()).toMatchObject([{ tag: '', name: 'info', value: 6 }]);
  await set({ thresholds: { PG_MAX_CONN_HIGH: { info: null } } });
  expect(complaints).toEqual([]);
  await close();
});

test('silences of all connections are ended together, by keyboard', async () => {
  await silence(watched, 'PG_NO_TLS');
  await silence(watched, 'PG_FSYNC_OFF');
  const { page, complaints, close } = await open();
  await visit(page, '/thresholds');
  await press(page, 'Silences');
  await page.waitForURL(/view=silences/);
  await expect.poll(() => page.locator('.table-item').count()).toBe(2);
  await tabTo(page, 'Select all');
  await page.keyboard.press('Space');
  await press(page, 'End 2 silences');
  await page.getByRole('alertdialog').waitFor();
  await press(page, 'End silences');
  await page.getByText('Nothing is silenced').waitFor();
  await page.getByText('2 silences ended').waitFor();
  await page.keyboard.press('z');
  await page.getByText('2 silences restored').waitFor();
  await expect.poll(() => page.locator('.table-item').count()).toBe(2);
  await tabTo(page, 'Select all');
  await page.keyboard.press('Space');
  await press(page, 'End 2 silences');
  await page.getByRole('alertdialog').waitFor();
  await press(page, 'End silences');
  await page.getByText('Nothing is silenced').waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('a viewer sees what is set, and nothing to change it', async () => {
  await set({ thresholds: { PG_DEAD_TUPLES: { warning: 0.25 } } });
  const { page, complaints, close } = await open(viewer);
  await visit(page, '/thresholds?check=PG_DEAD_TUPLES');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('25 %').waitFor();
  for (const name of [/Save/, /Preview/, /Edit/, /Reset/])
    expect(await dialog.getByRole('button', { name }).count()).toBe(0);
  await visit(page, '/thresholds?view=silences');
  await page.getByText('Nothing is silenced').waitFor();
  expect(await page.getByRole('checkbox').count()).toBe(0);
  await set({ thresholds: { PG_DEAD_TUPLES: { warning: null } } });
  expect(complaints).toEqual([]);
  await close();
});

test('every state is accessible and fits', async () => {
  await set({ thresholds: { PG_DEAD_TUPLES: { warning: 0.25, minimum_rows: 5 } } });
  await set({ tag: `long:${'x'.repeat(90)}`, thresholds: { PG_DEAD_TUPLES: { warning: 0.3 } } });
  await set({ connections: [watched], thresholds: { PG_DEAD_TUPLES: { naps: 9 } } });
  await silence(watched, 'PG_NO_TLS');
  const { page, complaints, close } = await open();
  const check = (state: string) => inspect(page, `thresholds-${state}`);
  await visit(page, '/thresholds');
  await page.locator('.table-item').first().waitFor();
  await check('all');
  await visit(page, '/thresholds?list=set');
  await check('set');
  await visit(page, '/thresholds?q=no-such-check');
  await page.getByText('No check matches').waitFor();
  await check('nothing-found');
  await visit(page, '/thresholds?check=PG_DEAD_TUPLES');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 connection').waitFor();
  await check('form');
  await dialog.getByRole('textbox', { name: 'Minimum rows' }).fill('7');
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByText(/A run keeps no value to compare with “Minimum rows”/).waitFor();
  await check('preview');
  await dialog.getByText('Chosen connections').first().click();
  await dialog.getByText('0 chosen').waitFor();
  await check('connections');
  await visit(page, '/thresholds?view=silences');
  await page.locator('.table-item').first().waitFor();
  await check('silences');
  await page
    .getByRole('checkbox', { name: /PG_NO_TLS/ })
    .first()
    .click({ force: true });
  await page.getByRole('button', { name: 'End 1 silence' }).click();
  await page.getByRole('alertdialog').waitFor();
  await check('end');
  await page.getByRole('button', { name: 'End silence', exact: true }).click();
  await page.getByText('Nothing is silenced').waitFor();
  await check('no-silences');
  expect(complaints).toEqual([]);
  await close();
});
