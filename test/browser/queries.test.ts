import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, inspect, keepPicture, openWindow, settled, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, press, tabTo } from './keyboard.ts';
import { HOSTILE } from './measured-connection.ts';

/** The query with the most time, which has a hostile text. Its database and role have hostile names. */
const WORST = '-5191732810777595558';
/** A query that ran two days ago and has no stored text. */
const OLD = '42';

/** A query that takes four times as long since two days ago, when a setting changed, and waits for locks. */
const JUMPED = '4711';

const TEXT = `select '</pre><script>window.taken=1</script>' as "name", ${'x'.repeat(200)}\n  from orders where id = $1`;

let service: ConsoleAccount;
let owner: Person;
let viewer: Person;
/** Connections: PostgreSQL with queries and texts, MySQL with queries, and one without any. */
const ids = { full: 0, mysql: 0, none: 0 };

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** Hours with queries; `hours` is the step back from now, and its number of steps. */
function hoursOf(
  connection: number,
  engine: string,
  queries: [string, string, string][],
  from: number,
  to: number,
) {
  const list = (values: (string | number)[], type: string) => `array[${values.join(', ')}]::${type}[]`;
  const figures = (factor: number) =>
    list(
      queries.map((_, place) => factor / (place + 1)),
      'float8',
    );
  return `
    update connection set engine = '${engine}' where account_id = ${service.accountId} and connection_id = ${connection};
    insert into query_hour (account_id, connection_id, hour, all_calls, all_seconds, query, database, role, calls, seconds, rows, read, hit, temporary)
    select ${service.accountId}, ${connection}, date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 9000, 900,
           ${list(
             queries.map(([query]) => literal(query)),
             'text',
           )}, ${list(
             queries.map(([, database]) => literal(database)),
             'text',
           )},
           ${list(
             queries.map(([, , role]) => literal(role)),
             'text',
           )},
           ${figures(4_000)}, (select array_agg(s * (1 + 0.5 * sin(n / 40.0))) from unnest(${figures(300)}) s),
           ${figures(80_000)}, ${figures(2_000_000)}, ${figures(9_000_000)}, ${figures(engine === 'postgres' ? 3e9 : 40)}
      from generate_series(${from}, ${to}) n;`;
}

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 4, tickets: 10, activity: 50 });
  owner = await service.owner();
  viewer = await service.member('Vera Viewer', ['viewer']);
  const { data } = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet?sort=worst');
  [ids.full = 0, ids.mysql = 0, ids.none = 0] = data.map(({ id }) => id);
  const digest = (n: number) =>
    n.toString(16).padStart(64, '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08');
  const ordinary = Array.from({ length: 20 }, (_, n): [string, string, string] => [
    String((7n ** 20n * BigInt(n + 1)) % 9n ** 18n),
    'shop',
    'app',
  ]);
  await service.statement(`
    delete from query_hour where account_id = ${service.accountId};
    delete from query_text where account_id = ${service.accountId};
    update connection set query_texts = false where account_id = ${service.accountId};
    ${hoursOf(ids.full, 'postgres', [[WORST, HOSTILE, HOSTILE], ...ordinary], 0, 13 * 24)}
    ${hoursOf(ids.full, 'postgres', [[OLD, 'shop', 'app']], 13 * 24 + 1, 13 * 24 + 5)}
    ${hoursOf(
      ids.mysql,
      'mysql',
      [1, 2, 3].map((n) => [digest(n), n === 3 ? '' : 'shop', '']),
      0,
      13 * 24,
    )}
    update query_hour
       set query = query || '{${JUMPED},777}', database = database || '{shop,shop}', role = role || '{app,dbvitals}',
           calls = calls || '{100,5}', seconds = seconds || array[case when hour > now() - interval '48 hours' then 4 else 1 end, 0.1],
           rows = rows || '{100,5}', read = read || '{900,5}', hit = hit || '{0,0}', temporary = temporary || '{0,0}'
     where account_id = ${service.accountId} and connection_id = ${ids.full};
    update connection set username = 'dbvitals' where account_id = ${service.accountId} and connection_id = ${ids.full};
    delete from connection_change where account_id = ${service.accountId} and connection_id = ${ids.full};
    insert into connection_change (account_id, connection_id, at, kind, subject, before, after)
    values (${service.accountId}, ${ids.full}, now() - interval '48 hours', 'setting', 'work_mem', '64MB', '4MB');
    insert into session_load_source values
      (${service.accountId}, ${ids.full}, 1, 'active', 'Lock', 'tuple', '${JUMPED}', 'app', 'shop', 'shop', now()),
      (${service.accountId}, ${ids.full}, 2, 'active', '', '', '${WORST}', 'app', '', 'shop', now());
    insert into query_state (account_id, connection_id, read_at, state, catalogue)
    values (${service.accountId}, ${ids.mysql}, now(), '', '{${digest(2)}}')
    on conflict (account_id, connection_id) do update set catalogue = excluded.catalogue;
    delete from session_load where account_id = ${service.accountId} and connection_id = ${ids.full};
    insert into session_load
    select ${service.accountId}, ${ids.full}, date_trunc('hour', now()) - n * interval '5 min', 5, 2, 0, 0, 0, null, null, null, '{1}', '{1.5}'
      from generate_series(1, 100) n;
    update connection set query_texts = true where account_id = ${service.accountId} and connection_id = ${ids.full};
    insert into query_text (account_id, connection_id, query, text, read_at)
    values (${service.accountId}, ${ids.full}, '${WORST}', ${literal(TEXT)}, now());`);
});

afterAll(closeWindows);

/** The line that the list shows of the hostile text. */
const LINE = /^select '<\/pre><script>window.taken=1<\/script>' as "name"/;

const list = (page: Page) => page.getByRole('table', { name: 'Queries' });

async function open(connection: number, person = owner, search = '') {
  const opened = await openWindow(service.origin, person);
  await visit(opened.page, `/connections/${connection}?tab=queries${search}`);
  await opened.page.getByRole('heading', { level: 2, name: /^Quer(ies|y)$/ }).waitFor();
  await settled(opened.page);
  return opened;
}

test.each(['full', 'mysql', 'none'] as const)(
  '%s: axe finds no violations, and the page fits',
  async (which) => {
    const { page, complaints, close } = await open(ids[which]);
    await list(page).or(page.getByText('No queries in this range')).waitFor();
    await inspect(page, `queries-${which}`);
    expect(await page.evaluate('window.taken')).toBeUndefined();
    expect(complaints).toEqual([]);
    await close();
  },
);

test('the list has the texts, each in one line, and a hostile one is text', async () => {
  const { page, complaints, close } = await open(ids.full, owner, '&range=30d');
  const first = list(page).getByRole('row').nth(1);
  expect(await first.getByRole('link').textContent()).toMatch(LINE);
  expect(await first.getByRole('link').getAttribute('title')).toBe(WORST);
  expect((await first.getByRole('link').boundingBox())?.height).toBeLessThan(30);
  expect(await first.textContent()).toContain(HOSTILE);
  expect(await first.getByRole('img').getAttribute('aria-label')).toMatch(
    /^Mean time of a call in 14 days: from \d/,
  );
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  // One without a stored text is named by its id.
  await list(page).getByRole('link', { name: OLD, exact: true }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('the table has the queries of each engine with the words of the engine', async () => {
  const header = (page: Page) => list(page).getByRole('columnheader').allTextContents();
  const { page, close } = await open(ids.full);
  await list(page).waitFor();
  expect(await header(page)).toEqual(expect.arrayContaining(['Time', 'Calls', 'Blocks read', 'Temporary']));
  await close();
  const other = await open(ids.mysql);
  await list(other.page).waitFor();
  expect(await header(other.page)).toEqual(expect.arrayContaining(['Rows examined', 'Disk tables']));
  await other.close();
});

test('a query has a page: text, figures over time, waits, findings, and what changed when it jumped', async () => {
  const { page, complaints, close } = await open(ids.full, owner, '&range=30d');
  await list(page).getByRole('link', { name: LINE }).click();
  await page.getByRole('heading', { level: 2, name: 'Query', exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get('query')).toBe(WORST);
  expect(new URL(page.url()).searchParams.get('range')).toBe('30d');
  expect(await page.getByRole('group', { name: 'query text' }).textContent()).toBe(TEXT);
  for (const chart of ['Time of a call', 'Calls in an hour', 'Rows of a call', 'Blocks read by a call'])
    await page.getByRole('application', { name: chart }).waitFor();
  await page.getByText('No pulse saw a session with this query in this range.').waitFor();
  await inspect(page, 'query-page');
  expect(await page.evaluate('window.taken')).toBeUndefined();
  await page.goBack();
  await list(page).waitFor();
  await visit(page, `/connections/${ids.full}?query=${JUMPED}&range=30d`);
  await page.getByText(/^A call takes 40 ms since .*, and took 10 ms before\.$/).waitFor();
  const around = page.getByRole('table', { name: 'Changes around that time' });
  expect(await around.getByRole('row').nth(1).textContent()).toContain('work_mem');
  await page.getByText('Lock', { exact: false }).first().waitFor();
  await page.getByRole('application', { name: 'Sessions at work' }).waitFor();
  await keepPicture(page, 'query-jump');
  expect(complaints).toEqual([]);
  await close();
});

test('a finding of a query leads to its page, which names the finding', async () => {
  await service.statement(`
    update health_check
       set findings = jsonb_build_array(findings -> 0 || ${literal(
         JSON.stringify({
           check_id: 'PG_QUERY_SLOWER',
           database: '',
           object: `${WORST} in ${HOSTILE} by ${HOSTILE}`,
           status: 'warning',
         }),
       )}::jsonb)
     where account_id = ${service.accountId}
       and health_check_id = (select latest_check_id from connection
                               where account_id = ${service.accountId} and connection_id = ${ids.full})`);
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, `/connections/${ids.full}?tab=findings`);
  await page.getByRole('link', { name: 'Show query' }).click();
  await page.getByRole('group', { name: 'query text' }).waitFor();
  const findings = page.getByRole('region', { name: 'Findings about this query' });
  await findings.getByRole('link').click();
  await page.getByRole('link', { name: 'Show query' }).waitFor();
  await close();
});

test('by keyboard: the list is filtered by role, a query is opened, and each reading of texts is recorded', async () => {
  const { page, complaints, close } = await open(ids.full, owner, '&range=30d');
  await list(page).waitFor();
  await press(page, /All roles/);
  await page.keyboard.type('app');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('role')).toBe('app');
  await list(page).getByRole('link', { name: LINE }).waitFor({ state: 'detached' });
  await tabTo(page, OLD);
  await page.keyboard.press('Enter');
  await page.getByText('No text is stored yet', { exact: false }).waitFor();
  expect(await focused(page)).toBeDefined();
  await visit(page, '/activity');
  await page.getByText('read texts of queries of').locator('visible=true').first().waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('queries of dbvitals itself are hidden, and shown on request', async () => {
  const { page, close } = await open(ids.full);
  await list(page).waitFor();
  expect(await list(page).getByRole('link', { name: '777', exact: true }).count()).toBe(0);
  await page.getByText('Queries of dbvitals itself are hidden.').waitFor();
  await page.getByRole('button', { name: 'Show them' }).click();
  await list(page).getByRole('link', { name: '777', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Hide them' }).click();
  await list(page).getByRole('link', { name: '777', exact: true }).waitFor({ state: 'detached' });
  await close();
});

test('of MySQL, queries on the catalogue are hidden, and shown on request', async () => {
  const { page, complaints, close } = await open(ids.mysql);
  await page.getByText('Queries on the server’s catalogue', { exact: false }).waitFor();
  await list(page).waitFor();
  expect(await list(page).getByRole('row').count()).toBe(3);
  await page.getByRole('button', { name: 'Show them' }).click();
  await list(page).getByRole('row').nth(3).waitFor();
  await page.getByRole('button', { name: 'Hide them' }).click();
  await list(page).getByRole('row').nth(3).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await close();
});

test('queries of sessions without an application name are a choice of the filter', async () => {
  const { page, complaints, close } = await open(ids.full);
  await press(page, /All applications/);
  await page.keyboard.type('(none)');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('unnamed')).toBe('application');
  await list(page).getByRole('row').nth(2).waitFor({ state: 'detached' });
  expect(await list(page).getByRole('row').nth(1).getByRole('link').getAttribute('title')).toBe(WORST);
  await page.reload();
  await page.getByRole('button', { name: /\(none\)/ }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('a viewer sees the figures by id, and neither texts nor their switch', async () => {
  const { page, complaints, close } = await open(ids.full, viewer);
  await list(page).getByRole('link', { name: WORST }).click();
  await page.getByRole('application', { name: 'Time of a call' }).waitFor();
  expect(await page.getByRole('group', { name: 'query text' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: /texts$/ }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('by keyboard: texts are switched off, which deletes them, and on', async () => {
  const { page, complaints, close } = await open(ids.full);
  await press(page, 'Stop storing texts');
  await page.getByRole('dialog', { name: 'Stop storing query texts' }).waitFor();
  await inspect(page, 'query-texts-off');
  await press(page, 'Delete texts');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Store texts', exact: true }).waitFor();
  await list(page).getByRole('link', { name: WORST }).waitFor();
  await press(page, 'Store texts');
  await page.getByRole('dialog', { name: 'Store query texts' }).waitFor();
  await press(page, 'Store texts');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await list(page).getByRole('link', { name: WORST }).click();
  await page.getByText('No text is stored yet', { exact: false }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});
