import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Person } from './console-service.ts';

/** The colour scheme and window size of a test. */
export interface Look {
  scheme: 'light' | 'dark';
  /** The window's width in pixels. */
  width: number;
  height: number;
}

export const WIDE = { width: 1360, height: 900 };
/** The largest window that the layout is made for. */
export const LARGE = { width: 2560, height: 1440 };
export const PHONE = { width: 360, height: 740 };

/** A browser window and its page. */
export interface Window {
  page: Page;
  /** Script errors, violations of the content security policy, and requests to other hosts. */
  complaints: string[];
  close(): Promise<void>;
}

/** Starts Debian's Chromium, or the one that CHROMIUM names. */
export function openBrowser(): Promise<Browser> {
  // Chromium has no sandbox when it runs as root, as in CI. It loads pages from our own service only.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args });
}

/** Opens a window with its own cookies: those of the person's session, or none. */
export async function openWindow(
  browser: Browser,
  origin: string,
  person: Person | null,
  { scheme, width, height }: Look = { scheme: 'light', ...WIDE },
): Promise<Window> {
  const context = await browser.newContext({
    baseURL: origin,
    colorScheme: scheme,
    viewport: { width, height },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  if (person) {
    await context.addCookies([
      { name: 'dbvitals_session', value: person.session, url: origin, httpOnly: true, sameSite: 'Strict' },
    ]);
  }
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) {
      complaints.push(`a request to ${request.url()}`);
    }
  });
  return { page, complaints, close: () => context.close() };
}

/** Opens a page of the console and waits until it has loaded. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await settled(page);
}

/** Waits until the page has its title and no placeholders. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  // No waitForFunction: it needs eval, which the policy forbids.
  await page.locator('.starting, .skeleton, .skeleton-rows').first().waitFor({ state: 'detached' });
}

/** The violations that axe finds on the page, one per line. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  // Finish the transitions: axe would measure the contrast of a colour halfway. A spinner's animation never ends.
  await page.evaluate(
    'document.getAnimations().forEach((one) => { if (one.effect.getComputedTiming().endTime < Infinity) one.finish(); })',
  );
  // axe has this rule off by default. Users of voice control say the text of a button to press it.
  const found = await page.evaluate<AxeResults>(
    'axe.run({ resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: true } } })',
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  );
}

/** How many pixels the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

const pictures = process.env['DBVITALS_SCREENSHOTS'];

/** Saves a screenshot in the folder of DBVITALS_SCREENSHOTS. Does nothing when that is unset: a screenshot is as slow as axe. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
}
