import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { CONNECTION_TABS } from '../../src/vocabulary/connection-tabs.ts';
import { closeBrowser, type Look, openWindow, overflow, PHONE, visit, WIDE } from './chromium.ts';
import { type ConsoleService, type Person, startConsoleService } from './console-service.ts';

// Takes a picture of every page in every look, of a filled account and of an empty one, for people to judge:
// npm run looks [FOLDER] [PART OF A NAME]. It fails when a page is wider than its window.

const [folder = 'looks', only = ''] = process.argv.slice(2);

const LOOKS: readonly (Look & { name: string })[] = [
  { name: 'light', scheme: 'light', ...WIDE },
  { name: 'dark', scheme: 'dark', ...WIDE },
  { name: 'phone', scheme: 'light', ...PHONE },
  { name: 'wide', scheme: 'dark', width: 2560, height: 1440 },
];

/** The pages that every account has, by name. */
const PAGES: Readonly<Record<string, string>> = {
  fleet: '/fleet',
  add: '/connections/new',
  tickets: '/tickets',
  alerts: '/alerts',
  rules: '/alerts?view=rules',
  maintenance: '/alerts?view=maintenance',
  notifications: '/notifications',
  'add-destination': '/notifications?add=slack',
  thresholds: '/thresholds',
  silences: '/thresholds?view=silences',
  checks: '/checks',
  'add-check': '/checks?add=1',
  activity: '/activity',
  keys: '/keys',
  'create-key': '/keys?create=1',
  collectors: '/collectors',
  team: '/team',
  account: '/account',
  sessions: '/sessions',
  'no-such-page': '/nowhere',
};

/** What only the filled account has, by name. */
async function filledPages(service: ConsoleService, owner: Person): Promise<Record<string, string>> {
  const ask = <T>(method: string, path: string, body?: unknown) => service.ask<T>(owner, method, path, body);
  await ask('PATCH', '/onboarding', { dismissed: true });
  await ask('POST', '/collectors', { name: 'frankfurt' });
  await ask('POST', '/keys', { name: 'Grafana, production', note: '', expires_in: 864_000 });
  const { destination } = await ask<{ destination: { id: number } }>('POST', '/destinations', {
    channel: 'slack',
    name: 'On call',
    url: 'https://hooks.slack.com/services/T0/B0/abc',
  });
  await ask('POST', '/own-checks', {
    id: 'QUEUE',
    title: 'Orders wait for payment',
    engine: 'postgres',
    database: null,
    sql: 'select 1 as value',
    unit: 'count',
    operator: '>=',
    warning: 10,
    critical: 100,
    remediation: 'Restart the worker.',
    every: null,
    timeout: 5,
    tags: ['env:production'],
  });
  const { data: fleet } = await ask<{ data: { id: number; open_tickets: number }[] }>('GET', '/fleet');
  const worst = fleet.toSorted((a, b) => b.open_tickets - a.open_tickets);
  const [first = 0, second = 0] = worst.map(({ id }) => id);
  const { data: tickets } = await ask<{ data: { id: number }[] }>('GET', '/read/ops/tickets?status=open');
  const tabs = CONNECTION_TABS.map((tab) => [`connection-${tab}`, `/connections/${first}?tab=${tab}`]);
  return {
    ...PAGES,
    ...Object.fromEntries(tabs),
    'fleet-lines': '/fleet?metric=cache_hit_ratio',
    compare: `/compare?a=${first}&b=${second}`,
    ticket: `/tickets?ticket=${tickets[0]?.id ?? 0}`,
    check: '/checks?check=QUEUE',
    threshold: '/thresholds?check=PG_CONN_SATURATION',
    destination: `/notifications/${destination.id}`,
  };
}

/** Saves a picture of what is in the window. */
async function take(page: Page, name: string): Promise<void> {
  // Charts, and lists that come with a second request.
  await page.waitForTimeout(700);
  const wider = await overflow(page);
  if (wider > 0) {
    console.error(`${name} is ${wider} pixels wider than its window.`);
    process.exitCode = 1;
  }
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
  const screens = await page.evaluate<number>('document.documentElement.scrollHeight / innerHeight');
  console.log(`${name}: ${screens.toFixed(1)} screens`);
}

async function takeAll(origin: string, account: string, person: Person, pages: Record<string, string>) {
  for (const look of LOOKS) {
    const { page, close } = await openWindow(origin, person, look);
    for (const [name, path] of Object.entries(pages)) {
      if (!name.includes(only)) continue;
      await visit(page, path);
      await take(page, `${account}.${name}.${look.name}`);
    }
    await close();
  }
}

mkdirSync(folder, { recursive: true });
const service = await startConsoleService({ connections: 14, tickets: 110, activity: 500 });
try {
  const owner = await service.owner();
  await takeAll(service.origin, 'filled', owner, await filledPages(service, owner));
  await takeAll(service.origin, 'empty', await service.createOwner('team'), PAGES);
} finally {
  await closeBrowser();
  await service.stop();
}
