import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Person } from './console-service.ts';

/** How the console is looked at. */
export interface Look {
  scheme: 'light' | 'dark';
  /** Of the window, in pixels. */
  width: number;
  height: number;
}

export const WIDE = { width: 1360, height: 900 };
export const PHONE = { width: 360, height: 740 };

/** A window with its page. */
export interface Window {
  page: Page;
  /** What the browser complained of: errors of scripts, of the policy, requests to other hosts. */
  complaints: string[];
  close(): Promise<void>;
}

/** Debian's Chromium, or the one that CHROMIUM names. */
export function openBrowser(): Promise<Browser> {
  // As root, which CI is, it has no sandbox; nothing but our own service is asked.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args });
}

/** A window of its own, with the session of a person or without one. */
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

/** Opens a page of the console and waits until it shows what it asked for. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await settled(page);
}

/** Waits until the page has its title and nothing on it stands for something still to come. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  // No waitForFunction: it needs eval, which the policy forbids.
  await page.locator('.starting, .skeleton, .skeleton-rows').first().waitFor({ state: 'detached' });
}

/** What axe finds wrong with the page, a line each. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  // A colour on its way from light to dark, or of a dialog that appears, is none that anybody reads. What turns for ever has no end.
  await page.evaluate(
    'document.getAnimations().forEach((one) => { if (one.effect.getComputedTiming().endTime < Infinity) one.finish(); })',
  );
  // Off unless asked for, it is held all the same: who speaks to the page says what stands on the button.
  const found = await page.evaluate<AxeResults>(
    'axe.run({ resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: true } } })',
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  );
}

/** By how many pixels the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

const pictures = process.env['DBVITALS_SCREENSHOTS'];

/** Keeps a picture of the page in the folder that DBVITALS_SCREENSHOTS names, if it names one: a picture takes as long as axe. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), animations: 'disabled' });
}
