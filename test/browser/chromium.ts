import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { chooseInTurn } from '../support/rotation.ts';
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
const LARGE = { width: 2560, height: 1440 };
export const PHONE = { width: 360, height: 740 };

/** A browser window and its page. */
export interface Window {
  page: Page;
  /** Script errors, violations of the content security policy, and requests to other hosts. */
  complaints: string[];
  close(): Promise<void>;
}

/** Debian's build without a desktop takes half the processor time of the other one. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

let browser: Promise<Browser> | null = null;
const contexts = new Set<BrowserContext>();

/** Starts Debian's Chromium, or the program that CHROMIUM names. */
function launch(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? PROGRAMS.find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error(`Install Chromium: there is no ${PROGRAMS.join(' and no ')}.`);
  // Chromium has no sandbox when it runs as root, as in CI. It loads pages from our own service only.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}

/**
 * Opens a window with its own cookies: those of the person's session, or none. All windows of a worker belong to one
 * browser, which ends with the worker.
 */
export async function openWindow(
  origin: string,
  person: Person | null,
  { scheme, width, height }: Look = { scheme: 'light', ...WIDE },
): Promise<Window> {
  browser ??= launch();
  const context = await (await browser).newContext({
    baseURL: origin,
    colorScheme: scheme,
    viewport: { width, height },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  contexts.add(context);
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

/** Closes the windows that are still open. Pages that nobody looks at would go on to ask the service. */
export async function closeWindows(): Promise<void> {
  await Promise.all([...contexts].map((context) => context.close()));
  contexts.clear();
}

/** Ends the browser, where no worker ends it. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = null;
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

/** The rules whose result depends on the colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** The violations that axe finds on the page, one per line: of all rules, or of those only. */
export async function violations(page: Page, only: readonly string[] | null = null): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  // Finish the transitions: axe would measure the contrast of a colour halfway. A spinner's animation never ends.
  await page.evaluate(
    'document.getAnimations().forEach((one) => { if (one.effect.getComputedTiming().endTime < Infinity) one.finish(); })',
  );
  // axe has this rule off by default. Users of voice control say the text of a button to press it.
  const rules = only
    ? `runOnly: ${JSON.stringify(only)}`
    : 'rules: { "label-content-name-mismatch": { enabled: true } }';
  const found = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ["violations"], ${rules} })`);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  );
}

/** Every colour scheme and every width once: a scheme's colours do not depend on the width. */
const LOOKS: readonly (Look & { name: string; only: readonly string[] | null })[] = [
  { name: 'light', scheme: 'light', ...WIDE, only: null },
  { name: 'dark', scheme: 'dark', ...LARGE, only: COLOUR_RULES },
  { name: 'phone', scheme: 'light', ...PHONE, only: null },
];

/**
 * Expects in each look that the page fits its window, and in one of them, another one in the next part of the rotation, that axe
 * finds nothing; takes a screenshot. What differs between the first two looks is the scheme; `allRules` are for a page that has a
 * layout of its own for the largest window.
 */
export async function inspect(page: Page, name: string, { allRules = false } = {}): Promise<void> {
  const judged = chooseInTurn(LOOKS, name);
  for (const { name: look, only, scheme, width, height } of LOOKS) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height });
    await settled(page);
    await keepPicture(page, `${name}.${look}`);
    // A chart follows the width of its window within a frame or two.
    await expect.poll(() => overflow(page), { message: `${name}, ${look}` }).toBeLessThanOrEqual(0);
    const found = judged.some((one) => one.name === look)
      ? await violations(page, allRules ? null : only)
      : [];
    expect(found, `${name}, ${look}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(WIDE);
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
