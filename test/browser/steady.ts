import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { PHONE, WIDE } from './chromium.ts';

// What stays in its place while an error appears.

/** An error that takes several lines. */
export const LONG =
  'This value can’t be used, because it is only an example of a sentence that is far too long for one line.';

/**
 * The place of everything on the page that is not an error, from the start of what it scrolls in. What a dialog keeps in view is
 * measured from the window, and what a page keeps beside a form, which scrolls, is left out. `isFirst` numbers the elements, and later calls find those again.
 */
export const measure = (page: Page, isFirst: boolean) =>
  page.evaluate<Record<string, number>>(`(() => {
    const all = [...document.querySelectorAll('main *, .dialog *')].filter(
      (one) => !one.closest('.field-error, .form-error > div, .dialog .inline-error, svg, [aria-hidden], .add-connection > .section'),
    );
    if (${isFirst}) all.forEach((one, number) => { one.dataset.steady = number + ' ' + one.tagName + '.' + one.className; });
    const offset = (one) => {
      if (one.closest('.dialog-footer')) return 0;
      let sum = 0;
      for (let at = one.parentElement; at; at = at.parentElement) sum += at.scrollTop;
      return sum;
    };
    return Object.fromEntries(all
      .filter((one) => one.dataset.steady !== undefined && one.getClientRects().length > 0)
      .map((one) => [
        one.dataset.steady,
        Math.round(one.getBoundingClientRect().top + offset(one)),
      ]));
  })()`);

/** Waits until nothing is a placeholder, and nothing has moved for a while: what still loads moves what is below. */
export async function still(page: Page): Promise<void> {
  let before = '';
  const isStill = async () => {
    const now = JSON.stringify(await measure(page, true));
    const isSame = now === before;
    before = now;
    return isSame && (await page.locator('.skeleton-rows').count()) === 0;
  };
  await expect.poll(isStill, { interval: 300 }).toBe(true);
}

/** Whatever a page sends, the service answers with this error. */
export const refuse = (page: Page, message: string) =>
  page.route('**/console/api/**', (route) =>
    route.request().method() === 'GET'
      ? route.continue()
      : route.fulfill({ status: 500, json: { error: { code: 'internal_error', message } } }),
  );

/** Waits until what has changed is drawn. */
export const drawn = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

/** What fields accept that take a name or a number, such as the name of a key that is to be revoked. */
export const WORD = '7';

/** The windows and what the service answers there. */
export const ANSWERS = [
  [PHONE, `${LONG} ${LONG} ${LONG}`],
  [WIDE, 'Try again.'],
] as const;

/** Presses the buttons of these names, one after the other. */
export const press =
  (...names: (string | RegExp)[]) =>
  async (at: Page) => {
    for (const name of names) await at.getByRole('button', { name, exact: true }).first().click();
  };

/** Gives every empty field a value that its browser accepts. Returns how many there were. */
export async function fillEmpty(form: Locator): Promise<number> {
  let filled = 0;
  const fields = 'input:not([type=checkbox], [type=radio], [type=hidden], [hidden]), textarea';
  for (const field of await form.locator(fields).all()) {
    if (!(await field.isVisible()) || !(await field.isEditable()) || (await field.inputValue()) !== '')
      continue;
    const type = await field.getAttribute('type');
    const VALUES: Record<string, string> = {
      email: 'ada@example.com',
      url: 'https://hooks.example/1',
      number: '7',
      'datetime-local': '2031-01-31T12:00',
      date: '2031-01-31',
    };
    filled += 1;
    await field.fill(VALUES[type ?? ''] ?? WORD);
  }
  return filled;
}
