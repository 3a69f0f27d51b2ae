import type { Page } from 'playwright-core';

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
