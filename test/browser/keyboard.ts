import type { Page } from 'playwright-core';

/** The focused element's name, roughly as a screen reader announces it. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return '';
  const named = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
  const label = element.getAttribute('aria-label') ?? (named || element.labels?.[0]?.textContent || element.textContent || element.getAttribute('placeholder'));
  return (label ?? '').trim().replace(/\\s+/g, ' ').slice(0, 120) || element.tagName;
})()`;

/** Whether the focus is visible: the focused element, or the row or field around it, has an outline. */
const SEEN = `(() => {
  const element = document.activeElement;
  const places = [element, element.closest('.table-row'), element.closest('label'), element.parentElement, ...(element.closest('label')?.querySelectorAll('span') ?? [])];
  return places.some((place) => place && getComputedStyle(place).outlineStyle !== 'none');
})()`;

/** The focused element's name, or '' when nothing has the focus. */
export function focused(page: Page): Promise<string> {
  return page.evaluate<string>(FOCUSED);
}

/** Presses Tab until the focused element has this name. Otherwise throws an error with the names on the way. */
export async function tabTo(page: Page, name: string | RegExp, most = 80): Promise<void> {
  const passed: string[] = [];
  for (let stop = 0; stop < most; stop++) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (typeof name === 'string' ? at === name : name.test(at)) return;
    passed.push(at);
  }
  throw new Error(`Tab came to no ${name}, but to: ${passed.join(' | ')}`);
}

/** Tabs through a page. Returns the number of stops and the names of those without a visible focus. */
export async function walk(page: Page, most = 150): Promise<{ stops: number; unseen: string[] }> {
  const unseen: string[] = [];
  for (let stops = 0; stops < most; stops++) {
    await page.keyboard.press('Tab');
    const [at, seen] = await page.evaluate<[string, boolean]>(`[${FOCUSED}, ${SEEN}]`);
    if (at === '' && stops > 0) return { stops, unseen };
    if (!seen) unseen.push(at);
  }
  return { stops: most, unseen };
}

/** Tabs to a button, link or option and presses Enter. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Tabs to a field and replaces its text. */
export async function write(page: Page, label: string | RegExp, text: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

/** Chooses an action from a row's menu. The row may be far down the page. */
export async function actOn(page: Page, name: string, action: string): Promise<void> {
  await tabTo(page, new RegExp(`^Actions for ${name}(?:,|$)`), 120);
  await page.keyboard.press('Enter');
  await page.getByRole('menu').waitFor();
  const chosen = page.locator('[role=menuitem]:focus', { hasText: action });
  // As a person does: until it is chosen. Others may begin with the same letters.
  for (const letter of action) {
    await page.keyboard.type(letter);
    if (await chosen.count()) break;
  }
  await chosen.waitFor();
  await page.keyboard.press('Enter');
}

/** Opens a button's menu with Enter and chooses an action by typing its first letters. */
export async function takeFromMenu(page: Page, button: string | RegExp, action: string): Promise<void> {
  await press(page, button);
  await page.getByRole('menuitem', { name: action }).waitFor();
  await page.keyboard.type(action.slice(0, 8));
  await page.keyboard.press('Enter');
}
