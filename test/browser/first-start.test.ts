import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { PASSWORD, PostgresServer } from '../checks/postgres-server.ts';
import { freePort } from '../contract/free-port.ts';
import { startProcess, temporaryFolder } from '../contract/running-service.ts';
import { MysqlServer } from '../mysql/mysql-server.ts';
import { paste } from '../mysql/paste.ts';
import { problemsOf } from '../receivers/vendor-schemas.ts';
import { rootProgram } from '../roots/root-program.ts';
import { closeWindows, openWindow, settled, violations, type Window } from './chromium.ts';
import { type SlackLike, startSlackLike } from './slack-like-receiver.ts';
import { PERSON, TimedSteps } from './timed-steps.ts';

// From `npm start` in an empty folder to a fault of a real server that is told on Slack, as a new user goes.

/** Seconds of `npm ci` in a fresh clone on two cores: it took 53. */
const NPM_CI = 60;
/** Seconds of a person who looks for a terminal, runs something there, and comes back. */
const TERMINAL = 20;
const LOGIN_PASSWORD = 'a-password-that-a-person-chose';
const typed = (text: string) => text.length * PERSON.key;

let slack: SlackLike;

beforeAll(async () => {
  slack = await startSlackLike();
});

afterAll(async () => {
  await closeWindows();
  await slack?.stop();
});

/** What a new user has beside the console. */
interface Watched {
  way: string;
  name: string;
  url: string;
  /** Runs SQL as the administrator, and returns what the client printed. */
  run(sql: string): Promise<string> | string;
  /** Reads the PEM file that `printed` names. */
  certificate(printed: string): string;
  /** Another TLS mode that the advice names. */
  mode: RegExp | null;
  /** SQL that makes a fault. */
  fault: string;
  /** In the message. */
  told: string[];
}

/** Starts the service on an empty data folder, and signs in by the link that it prints. */
async function firstStart(way: string): Promise<{ opened: Window; steps: TimedSteps }> {
  const folder = temporaryFolder();
  const environment = {
    DBVITALS_DATA_DIR: join(folder.path, 'data'),
    PORT: String(await freePort()),
    DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes',
  };
  const from = performance.now();
  const service = startProcess(['serve'], environment);
  onTestFinished(async () => {
    await service.stop();
    folder.remove();
  });
  const [, link = ''] = await service.says(/sign in\s+(http\S+)/, 120);
  const opened = await openWindow(new URL(link).origin, null);
  onTestFinished(() => opened.close());
  const { page } = opened;
  const steps = new TimedSteps(page, `first-start-${way}`);
  steps.seconds = NPM_CI + (performance.now() - from) / 1_000;
  await steps.take('link', PERSON.click, async () => {
    await page.goto(link);
    await page.getByText('You will own the account My company.').waitFor();
  });
  const [name, email, password] = ['Ada Lovelace', 'ada@example.com', 'correct horse battery staple'];
  await steps.take('fleet', typed(name + email + password) + PERSON.click, async () => {
    await page.getByLabel('Your name').fill(name);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Save and sign in' }).click();
    await page.getByText('1 of 5 done').waitFor();
    await page.getByText('dbvitals store').first().waitFor();
  });
  expect(await violations(page)).toEqual([]);
  return { opened, steps };
}

const shown = async (page: Page, name: string) =>
  (await page.getByRole('group', { name, exact: true }).textContent()) ?? '';

async function testConnection(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Test (?:connection|again)$/ }).click();
  await page.getByText(/^(?:Connected|Could not connect)$/).waitFor({ timeout: 60_000 });
}

const done = (page: Page, step: string) =>
  page.locator('.first-steps li', { hasText: step }).filter({ hasText: 'Done:' });

const inView = async (page: Page, name: string) => {
  const box = await page.getByRole('button', { name }).boundingBox();
  return box !== null && box.y + box.height <= (page.viewportSize()?.height ?? 0);
};

/** Goes the whole way with a server; fails if it takes five minutes. */
async function watch({ way, name, url, run, certificate, mode, fault, told }: Watched): Promise<void> {
  slack.received.length = 0;
  const { opened, steps } = await firstStart(way);
  const { page } = opened;
  const watched = url.replace('PASSWORD', LOGIN_PASSWORD);
  await steps.take('login', PERSON.click + typed(name + watched) + TERMINAL, async () => {
    await page.getByRole('link', { name: 'Watch a database' }).click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Connection URL', { exact: true }).fill(watched);
    const grants = way === 'postgres' ? 'grant pg_monitor' : 'grant process';
    await expect.poll(() => shown(page, 'SQL')).toContain(grants);
    await run((await shown(page, 'SQL')).replaceAll('change-me', LOGIN_PASSWORD));
  });
  await steps.take('certificate', PERSON.click, async () => {
    await testConnection(page);
    await page.getByText(/its TLS certificate is not from a trusted authority/).waitFor();
  });
  expect(await violations(page)).toEqual([]);
  expect(await page.locator('.test-result').textContent()).not.toMatch(/--/);
  await steps.take('connected', TERMINAL + 3 * PERSON.click, async () => {
    const file = certificate(await run(await shown(page, 'remedy')));
    await page.getByLabel('Trusted certificates').fill(file);
    if (mode) {
      await page.getByText('choose the TLS mode verify-ca').waitFor();
      await page.getByRole('button', { name: /^TLS|Verified/ }).click();
      await page.getByRole('option', { name: mode }).click();
    }
    await testConnection(page);
    await page.getByText('Connected', { exact: true }).waitFor();
    await expect.poll(() => inView(page, 'Add connection')).toBe(true);
  });
  expect(await violations(page)).toEqual([]);
  await steps.take('checked', PERSON.click, async () => {
    await page.getByRole('button', { name: 'Add connection' }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByRole('heading', { name: 'What is wrong now' }).waitFor({ timeout: 60_000 });
  });
  await steps.take('slack', 3 * PERSON.click, async () => {
    await page.getByRole('link', { name: 'Fleet' }).first().click();
    await done(page, 'Watch a database').waitFor({ timeout: 30_000 });
    await page.getByRole('link', { name: 'Be notified' }).click();
    await page
      .getByRole('button', { name: /^Slack/ })
      .or(page.getByRole('link', { name: /^Slack/ }))
      .click();
    await page.getByLabel('Webhook URL', { exact: true }).waitFor();
  });
  await steps.take('tested', TERMINAL + 2 * PERSON.click, async () => {
    await page.getByLabel('Webhook URL', { exact: true }).fill(slack.url);
    await page.getByRole('button', { name: 'Add and send test' }).click();
    await page.getByText('The test message is now in Slack.').waitFor();
  });
  await page.getByRole('button', { name: 'Done' }).click();
  await run(fault);
  await steps.take('finding', 3 * PERSON.click, async () => {
    await page.getByRole('link', { name: 'Fleet' }).first().click();
    await page.getByRole('link', { name }).first().click();
    await page.getByRole('button', { name: /^Check now/ }).click();
    await page.locator('.problems a').first().click({ timeout: 60_000 });
    await page.locator('.finding-detail').first().waitFor();
  });
  let message = '';
  await steps.take('told', PERSON.click, async () => {
    await expect.poll(() => slack.received.length).toBe(2);
    message = slack.received[1]?.body ?? '';
    const [, address = ''] = /<(http[^|]+)\|Open in dbvitals>/.exec(message) ?? [];
    await page.goto(address.replaceAll('&amp;', '&'));
    await page.locator('.ticket-panel').getByText('What to run').waitFor();
  });
  expect(slack.received.flatMap(({ body }) => problemsOf('slack', body))).toEqual([]);
  for (const part of told) expect(message).toContain(part);
  await steps.take('ticked', PERSON.click, async () => {
    await page.getByRole('link', { name: 'Fleet' }).first().click();
    await page.getByText('4 of 5 done').waitFor({ timeout: 30_000 });
    await settled(page);
  });
  console.log(`${way}: ${Math.round(steps.seconds)} s by ${steps.names.join(', ')}`);
  expect(steps.judged).toBeLessThan(300);
  expect(opened.complaints).toEqual([]);
}

test('PostgreSQL: from npm start to a fault that is told on Slack in five minutes', async () => {
  const server = await PostgresServer.start();
  onTestFinished(() => server.stop());
  await server.pause();
  // As PostgreSQL's manual makes a certificate.
  const [key, certificate] = [join(server.host, 'server.key'), join(server.host, 'server.crt')];
  const named = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['req', '-new', '-x509', '-days', '2', '-nodes', '-text', ...named];
  execFileSync('openssl', [...made, '-out', certificate, '-keyout', `${key}.new`], { stdio: 'pipe' });
  execFileSync('sh', ['-c', 'cat "$1.new" > "$1"', 'sh', key]); // its owner and mode stay
  await server.resume({ listen_addresses: '127.0.0.1', ssl: 'on' });
  const { host, port } = server;
  const options = ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1'];
  const reached = [`--host=${host}`, `--port=${port}`, '--username=postgres', 'shop'];
  await watch({
    way: 'postgres',
    name: 'shop',
    mode: null,
    url: `postgres://dbvitals_watcher:PASSWORD@localhost:${port}/shop`,
    run: async (sql) => {
      const pasted = promisify(execFile)('psql', [...options, ...reached], {
        env: { ...process.env, PGPASSWORD: PASSWORD },
      });
      pasted.child.stdin?.end(sql);
      return (await pasted).stdout;
    },
    certificate: (printed) => readFileSync(pathIn(host, printed.trim()), 'utf8'),
    fault: `create sequence invoice_numbers as integer maxvalue 1000; select setval('invoice_numbers', 950);`,
    told: ['Critical on shop: Sequence nearly exhausted', 'public.invoice_numbers', '95 %'],
  });
}, 300_000);

test('MySQL 9.7: from npm start to a fault that is told on Slack in five minutes', async () => {
  const port = String(await freePort());
  const settings = { 'skip-networking': 'OFF', 'bind-address': '127.0.0.1', port };
  const server = await MysqlServer.start(settings, 'mysql-9.7');
  onTestFinished(() => server.stop());
  expect(server.client).toBe(rootProgram('mysql'));
  await watch({
    way: 'mysql',
    name: 'orders',
    mode: /^Verified, any name/,
    url: `mysql://dbvitals_watcher:PASSWORD@localhost:${port}`,
    run: (sql) => paste(server, sql),
    certificate: (printed) => readFileSync(pathIn(server.data, printed.trim().split('\t')[1] ?? ''), 'utf8'),
    fault:
      'create table shop.visits (id tinyint auto_increment primary key); insert into shop.visits values (125);',
    told: ['Critical on orders: AUTO_INCREMENT or sequence nearly exhausted', '`shop`.`visits`', '95 %'],
  });
}, 300_000);

const pathIn = (folder: string, path: string) => (isAbsolute(path) ? path : join(folder, path));
