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
    ${hoursOf(ids.full, 'postgres', [[WORST, HOSTILE, HOSTILE], ...ordinary], 0, 13 * 24)}
    ${hoursOf(ids.full, 'postgres', [[OLD, 'shop', 'app']], 13 * 24 + 1, 13 * 24 + 5)}
    ${hoursOf(
      ids.mysql,
      'mysql',
      [1, 2, 3].map((n) => [digest(n), n === 3 ? '' : 'shop', '']),
      0,
      13 * 24,
    )}
    update connection set query_texts = true where account_id = ${service.accountId} and connection_id = ${ids.full};
    insert into query_text (account_id, connection_id, query, text, read_at)
    values (${service.accountId}, ${ids.full}, '${WORST}', ${literal(TEXT)}, now());`);
});

afterAll(closeWindows);

const part = (page: Page) => page.locator('#queries');

async function open(connection: number, person = owner) {
  const opened = await openWindow(service.origin, person);
  await visit(opened.page, `/connections/${connection}?tab=queries`);
  await part(opened.page).getByRole('heading', { level: 2, name: 'Queries', exact: true }).waitFor();
  await settled(opened.page);
  const last = part(opened.page).getByRole('row').nth(3).or(part(opened.page).locator('.message'));
  await last.first().waitFor();
  await last.first().scrollIntoViewIfNeeded();
  return opened;
}

test.each(['full', 'mysql', 'none'] as const)(
  '%s: axe finds no violations, and the page fits',
  async (which) => {
    const { page, complaints, close } = await open(ids[which]);
    await inspect(page, `queries-${which}`);
    expect(await page.evaluate('window.taken')).toBeUndefined();
    expect(complaints).toEqual([]);
    await close();
  },
);

test('the dialogs of texts: axe finds no violations, and hostile text is text', async () => {
  const { page, complaints, close } = await open(ids.full);
  await part(page)
    .getByRole('button', { name: `Text of query ${WORST}` })
    .click();
  const dialog = page.getByRole('dialog', { name: 'Query text' });
  await dialog.locator('pre').waitFor();
  expect(await dialog.locator('pre').textContent()).toContain('</pre><script>window.taken=1</script>');
  await inspect(page, 'query-text');
  expect(await page.evaluate('window.taken')).toBeUndefined();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await part(page).getByRole('button', { name: 'Stop storing texts' }).click();
  await page.getByRole('dialog', { name: 'Stop storing query texts' }).waitFor();
  await inspect(page, 'query-texts-off');
  expect(complaints).toEqual([]);
  await close();
});

test('the table has the queries of each engine with the words of the engine', async () => {
  const { page, close } = await open(ids.full);
  const table = part(page).getByRole('table', { name: 'Queries' });
  const header = (one: typeof table) => one.getByRole('columnheader').allTextContents();
  expect(await header(table)).toEqual(expect.arrayContaining(['Time', 'Calls', 'Blocks read', 'Temporary']));
  const first = table.getByRole('row').nth(1);
  expect(await first.textContent()).toContain(WORST);
  expect(await first.textContent()).toContain(HOSTILE);
  expect(await first.getByRole('img').getAttribute('aria-label')).toMatch(
    /^Mean time of a call in 14 days: from \d/,
  );
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  await close();
  const other = await open(ids.mysql);
  expect(await header(part(other.page).getByRole('table', { name: 'Queries' }))).toEqual(
    expect.arrayContaining(['Rows examined', 'Disk tables']),
  );
  await other.close();
  const empty = await open(ids.none);
  await part(empty.page).getByText('No queries in this range').waitFor();
  await empty.close();
});

test('a finding of a query leads to its row, and to the list if the row is not in it', async () => {
  const found = (object: string) =>
    service.statement(`
      update health_check
         set findings = jsonb_build_array(findings -> 0 || ${literal(
           JSON.stringify({ check_id: 'PG_QUERY_SLOWER', database: '', object, status: 'warning' }),
         )}::jsonb)
       where account_id = ${service.accountId}
         and health_check_id = (select latest_check_id from connection
                                 where account_id = ${service.accountId} and connection_id = ${ids.full})`);
  const openFinding = async () => {
    const opened = await openWindow(service.origin, owner);
    await visit(opened.page, `/connections/${ids.full}?tab=findings`);
    return opened;
  };
  await found(`${WORST} in ${HOSTILE} by ${HOSTILE}`);
  const { page, close } = await openFinding();
  await page.getByRole('link', { name: 'Show in queries' }).click();
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain(WORST);
  expect(await page.evaluate('document.activeElement.getBoundingClientRect().top')).toBeGreaterThan(0);
  await keepPicture(page, 'queries-shown');
  await close();
  await found('7 in shop by app');
  const other = await openFinding();
  await other.page.getByRole('link', { name: 'Show in queries' }).click();
  await part(other.page).getByRole('table', { name: 'Queries' }).waitFor();
  expect(
    await other.page.evaluate('document.getElementById("queries").getBoundingClientRect().top < innerHeight'),
  ).toBe(true);
  await other.close();
});

test('by keyboard: the range is changed, and a text is read, closed and recorded', async () => {
  const { page, complaints, close } = await open(ids.full);
  await press(page, /Range of queries/);
  await page.getByRole('option', { name: 'Last 14 days' }).waitFor();
  await page.keyboard.type('Last 14');
  await page.keyboard.press('Enter');
  await part(page)
    .getByRole('button', { name: `Text of query ${OLD}`, exact: true })
    .waitFor();
  await tabTo(page, `Text of query ${WORST}`);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Query text' });
  await dialog.locator('pre').waitFor();
  await tabTo(page, /^Copy/);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // The focus is where it was.
  expect(await focused(page)).toBe(`Text of query ${WORST}`);
  await tabTo(page, `Text of query ${OLD}`);
  await page.keyboard.press('Enter');
  await dialog.getByText('No text is stored yet', { exact: false }).waitFor();
  await page.keyboard.press('Escape');
  await visit(page, '/activity');
  await page.getByText('Query text read').locator('visible=true').first().waitFor();
  expect(complaints.filter((line) => !line.includes('404'))).toEqual([]);
  await close();
});

test('a viewer sees the figures, and neither texts nor their switch', async () => {
  const { page, complaints, close } = await open(ids.full, viewer);
  await part(page).getByRole('table', { name: 'Queries' }).waitFor();
  expect(
    await part(page)
      .getByRole('button', { name: /^Text of|texts$/ })
      .count(),
  ).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('by keyboard: texts are switched off, which deletes them, and on', async () => {
  const { page, complaints, close } = await open(ids.full);
  await press(page, 'Stop storing texts');
  await page.getByRole('dialog', { name: 'Stop storing query texts' }).waitFor();
  await press(page, 'Delete texts');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await part(page).getByRole('button', { name: 'Store texts', exact: true }).waitFor();
  expect(
    await part(page)
      .getByRole('button', { name: /^Text of/ })
      .count(),
  ).toBe(0);
  await press(page, 'Store texts');
  await page.getByRole('dialog', { name: 'Store query texts' }).waitFor();
  await press(page, 'Store texts');
  await part(page)
    .getByRole('button', { name: `Text of query ${WORST}` })
    .click();
  await page.getByRole('dialog').getByText('No text is stored yet', { exact: false }).waitFor();
  expect(complaints.filter((line) => !line.includes('404'))).toEqual([]);
  await close();
});
