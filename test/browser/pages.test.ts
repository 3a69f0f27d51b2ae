import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONNECTION_TABS } from '../../src/vocabulary/connection-tabs.ts';
import {
  closeWindows,
  inspect,
  openWindow,
  overflow,
  settled,
  visit,
  WIDE,
  type Window,
} from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { walk } from './keyboard.ts';

let service: ConsoleAccount;
let owner: Person;
let viewer: Person;
let stranger: Person;
let connection = 0;
let ticket = 0;
let link = '';

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 6, tickets: 20, activity: 60 });
  owner = await service.owner();
  viewer = await service.member('Grace Hopper', ['viewer']);
  await service.member('Edsger Dijkstra', ['operator', 'auditor']);
  stranger = await service.createOwner('team');
  link = await service.ownerLink();
  const fleet = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/fleet');
  connection = fleet.data[0]?.id ?? 0;
  const open = await service.ask<{ data: { id: number }[] }>(owner, 'GET', '/read/ops/tickets?status=open');
  ticket = open.data[0]?.id ?? 0;
});

afterAll(closeWindows);

interface Shown {
  name: string;
  /** Known after the service has started. */
  path: () => string;
  who: () => Person | null;
}

const shown = (name: string, path: () => string, who: () => Person | null = () => owner): Shown => ({
  name,
  path,
  who,
});

const PAGES: Shown[] = [
  shown(
    'sign-in',
    () => '/sign-in',
    () => null,
  ),
  shown(
    'link',
    () => link,
    () => null,
  ),
  shown(
    'link-used',
    () => `/link/${'A'.repeat(43)}`,
    () => null,
  ),
  shown('fleet', () => '/fleet'),
  shown('fleet-filtered', () => '/fleet?status=critical'),
  shown('fleet-nothing-found', () => '/fleet?q=no-such-name'),
  ...CONNECTION_TABS.map((tab) => shown(`connection-${tab}`, () => `/connections/${connection}?tab=${tab}`)),
  shown('add-connection', () => '/connections/new'),
  shown('tickets', () => '/tickets'),
  shown('tickets-all', () => '/tickets?status=all&severity=warning'),
  shown('ticket', () => `/tickets?ticket=${ticket}`),
  shown('notifications', () => '/notifications'),
  shown('add-destination', () => '/notifications?add=alertmanager'),
  shown('no-such-destination', () => '/notifications/999999999'),
  shown('activity', () => '/activity'),
  shown('activity-entry', () => '/activity?action_type=health_check_completed&entry=20'),
  shown('keys', () => '/keys'),
  shown('keys-create', () => '/keys?create=1&name=Grafana'),
  shown('collectors', () => '/collectors'),
  shown('team', () => '/team'),
  shown('account', () => '/account'),
  shown('sessions', () => '/sessions'),
  shown('no-such-connection', () => '/connections/999999999'),
  ...['fleet', 'tickets', 'activity', 'keys', 'team', 'account'].map((name) =>
    shown(
      `empty-${name}`,
      () => `/${name}`,
      () => stranger,
    ),
  ),
  ...['activity', 'keys', 'team', 'account'].map((name) =>
    shown(
      `not-allowed-${name}`,
      () => `/${name}`,
      () => viewer,
    ),
  ),
];

// Each page has one window for all its tests, because opening a window takes longer than they do.
describe.each(PAGES)('$name', ({ name, path, who }) => {
  let opened: Window;

  beforeAll(async () => {
    opened = await openWindow(service.origin, who());
    await visit(opened.page, path());
  });

  afterAll(() => opened?.close());

  test('axe finds no violations in any look, and the page fits the window', async () => {
    await inspect(opened.page, name, { allRules: true });
    expect(expected(opened.complaints, name)).toEqual([]);
  });

  test('the page fits a screen of 1,280 pixels at 400 % zoom', async () => {
    await opened.page.setViewportSize({ width: 320, height: 256 });
    await settled(opened.page);
    expect(await overflow(opened.page)).toBeLessThanOrEqual(0);
  });

  test('Tab goes through the whole page with a visible focus', async () => {
    await opened.page.setViewportSize(WIDE);
    const { stops, unseen } = await walk(opened.page);
    expect(stops).toBeGreaterThan(1);
    expect(unseen).toEqual([]);
  });
});

/** Removes the errors that the page expects: the browser reports every failed request. */
function expected(complaints: string[], name: string): string[] {
  const status = { 'link-used': 404, 'no-such-connection': 404 }[name];
  return complaints.filter((text) => !(status !== undefined && text.includes(`status of ${status}`)));
}

test('pages have no inline style or script, and a content security policy', async () => {
  const response = await fetch(`${service.origin}/fleet`, { headers: { accept: 'text/html' } });
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  const html = await response.text();
  expect(html).not.toMatch(/<style|style="|<script(?![^>]*\bsrc=)/);
});

test('nothing moves when the device requests reduced motion', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.route('**/console/api/fleet*', () => {}); // never answered: the skeleton stays
  await page.goto('/fleet');
  await page.locator('.skeleton').first().waitFor();
  const moving = await page.evaluate<number>('document.getAnimations().length');
  expect(moving).toBe(0);
  await close();
});

test('every status has a word beside its colour', async () => {
  const { page, close } = await openWindow(service.origin, owner);
  await visit(page, '/fleet');
  await settled(page);
  const words = await page.locator('.status-mark').allInnerTexts();
  expect(words.length).toBeGreaterThan(5);
  expect(words.filter((word) => word.trim() === '')).toEqual([]);
  await close();
});
