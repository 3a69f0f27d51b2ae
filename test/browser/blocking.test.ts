import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount } from './console-service.ts';
import { HOSTILE } from './measured-connection.ts';

let service: ConsoleAccount;
let page: Page;
let connection: number;

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** An episode that began so many seconds ago, with a tree of three levels. */
function insertEpisode(began: number, ended: number | null): string {
  const session = (pid: number, role: string, state: string) => ({
    pid,
    database: 'shop',
    role,
    application: 'psql',
    state,
  });
  const wait = (pid: number, blocker: number) => ({
    pid,
    blockers: [blocker],
    seconds: 40,
    lock: 'transactionid',
    relation: 'public.orders',
    session: session(pid, 'app', 'active'),
  });
  const at = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  const root = session(4711, HOSTILE, 'idle in transaction');
  const trees = [
    { at: at(began), root, waits: [wait(4712, 4711)], sessions: 1 },
    { at: at(began - 1), root, waits: [wait(4712, 4711), wait(4713, 4712), wait(4714, 4713)], sessions: 14 },
  ];
  const end = ended === null ? 'null' : `now() - interval '${ended} s'`;
  return `
    insert into blocking_episode (account_id, connection_id, began_at, root, seen_at, ended_at, database, role, application,
                                  most_sessions, longest_seconds, lost_seconds, trees)
    values (${service.accountId}, ${connection}, now() - interval '${began} s', '4711/${1_764_000_000 + began}.5',
            now() - interval '${ended ?? 1} s', ${end}, 'shop', ${literal(HOSTILE)}, 'psql', 14, 45, 500, ${literal(JSON.stringify(trees))})`;
}

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 2, tickets: 5, activity: 20 });
  const owner = await service.owner();
  const { data } = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet');
  connection = data[0]?.id ?? 0;
  page = (await openWindow(service.origin, owner)).page;
  await service.statement(`
    delete from blocking_episode where account_id = ${service.accountId} and connection_id = ${connection};
    insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status,
                        metric_line, remediation, first_seen_at, last_seen_at)
    values (${service.accountId}, ${connection}, 'PG_BLOCKED_SESSIONS', '', 'shop/bob/psql', 'locks', 'Session that blocks others',
            'critical', 'open', 'Sessions of shop/bob/psql have blocked 14 sessions.', '', now() - interval '2 minutes', now())`);
});
afterAll(closeWindows);

const section = () => page.getByRole('region', { name: 'Blocking' });
const now = () => page.getByRole('region', { name: 'Blocked now' });

test('who blocks whom, how to end it, and the sessions of an episode that is over', async () => {
  await visit(page, `/connections/${connection}?tab=now`);
  await section().getByText('No session has blocked others').waitFor();
  await service.statement(insertEpisode(45, null));
  await service.statement(insertEpisode(4_000, 3_900));
  await now()
    .getByText(/blocks 14 sessions, for \d+ s/)
    .waitFor();
  const tree = now().getByRole('list', { name: 'Blocking tree' });
  const third = tree.locator('ul ul ul');
  expect(await third.textContent()).toContain('process 4714');
  expect(await tree.textContent()).toContain('and 11 more');
  expect(await now().getByRole('group', { name: 'SQL' }).textContent()).toContain('pid = 4711');
  await inspect(page, 'blocking-now');
  await visit(page, '/fleet');
  await page.getByText('14 blocked').waitFor();
  await inspect(page, 'blocking-fleet');
  await visit(page, `/connections/${connection}?tab=now`);
  await section().getByRole('button', { name: 'Show sessions' }).click();
  expect(await section().getByRole('list', { name: 'Blocking tree' }).count()).toBe(1);
  await section().getByRole('button', { name: 'Earlier' }).click();
  await section().getByText('1 of 2').waitFor();
  await inspect(page, 'blocking-past');
  expect(await page.evaluate('window.taken')).toBeUndefined();
});

test('the load by wait and by role, with the episodes as markers', async () => {
  await visit(page, `/connections/${connection}?tab=now`);
  const chart = page.getByRole('application', { name: 'Sessions at work' });
  await chart.scrollIntoViewIfNeeded();
  const figure = page.getByRole('figure').filter({ has: chart });
  await figure.getByText('running', { exact: true }).waitFor();
  await page.getByText('Show the largest parts of this range').click();
  await page
    .getByRole('table', { name: 'Largest parts of the load' })
    .getByText('IO: DataFileRead')
    .waitFor();
  await inspect(page, 'load-wait');
  await page.getByRole('button', { name: /Split the load/ }).click();
  await page.getByRole('option', { name: 'By role' }).click();
  await figure.getByText('reports', { exact: true }).waitFor();
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  await inspect(page, 'load-role');
});

test('a server is watched live, when somebody asks for it', async () => {
  const add = ['connection', 'add', '--account', String(service.accountId), '--name', 'live', '--url'];
  const { id } = await service.command<{ id: number }>(...add, service.storeUrl());
  await visit(page, `/connections/${id}?tab=now`);
  const live = page.getByRole('region', { name: 'Sessions' });
  await live.getByRole('button', { name: 'Watch live' }).click();
  await live.getByText(/^\d+ of \d+$/).waitFor();
  await live.scrollIntoViewIfNeeded();
  await inspect(page, 'live');
  await live.getByRole('button', { name: 'Stop' }).click();
  await live.getByText(/^\d+ of \d+$/).waitFor({ state: 'detached' });
});

test('the ticket shows who waited for whom', async () => {
  await visit(page, '/tickets');
  await page
    .getByRole('link', { name: /Session that blocks others/ })
    .first()
    .click();
  await page.getByRole('heading', { name: 'Blocking episodes' }).waitFor();
  await page.getByRole('list', { name: 'Blocking tree' }).first().waitFor();
  await inspect(page, 'blocking-ticket');
});
