import type { Page } from 'playwright-core';

/** The name of what has the focus, about as a screen reader says it. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return '';
  const named = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
  const label = element.getAttribute('aria-label') ?? (named || element.labels?.[0]?.textContent || element.textContent || element.getAttribute('placeholder'));
  return (label ?? '').trim().replace(/\\s+/g, ' ').slice(0, 120) || element.tagName;
})()`;

/** Whether one sees what has the focus: by an outline of its own, or of the row or box that stands for it. */
const SEEN = `(() => {
  const element = document.activeElement;
  const places = [element, element.closest('.table-row'), element.closest('label'), element.parentElement, ...(element.closest('label')?.querySelectorAll('span') ?? [])];
  return places.some((place) => place && getComputedStyle(place).outlineStyle !== 'none');
})()`;

/** The name of what has the focus; '' when nothing has. */
export function focused(page: Page): Promise<string> {
  return page.evaluate<string>(FOCUSED);
}

/** Presses Tab until what has the focus is called so; throws with what it passed when it does not come. */
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

/** Goes through a page by Tab alone: how many stops there are, and those that one can't see. */
export async function walk(page: Page, most = 150): Promise<{ stops: number; unseen: string[] }> {
  const unseen: string[] = [];
  for (let stops = 0; stops < most; stops++) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (at === '' && stops > 0) return { stops, unseen };
    if (!(await page.evaluate<boolean>(SEEN))) unseen.push(at);
  }
  return { stops: most, unseen };
}

/** Goes to a button, link or choice by Tab and presses Enter there. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Goes to a box by Tab and types into it, over what it held. */
export async function write(page: Page, label: string | RegExp, text: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

/** Takes an action from the menu of a row, which is far down the page. */
export async function actOn(page: Page, name: string, action: string): Promise<void> {
  await tabTo(page, new RegExp(`^Actions for ${name},`), 120);
  await page.keyboard.press('Enter');
  await page.getByRole('menu').waitFor();
  await page.keyboard.type(action.slice(0, 3));
  await page.locator('[role=menuitem]:focus', { hasText: action }).waitFor();
  await page.keyboard.press('Enter');
}

/** Opens the menu of a button by Enter and takes one of its actions by typing how it begins. */
export async function takeFromMenu(page: Page, button: string | RegExp, action: string): Promise<void> {
  await press(page, button);
  await page.getByRole('menuitem', { name: action }).waitFor();
  await page.keyboard.type(action.slice(0, 8));
  await page.keyboard.press('Enter');
}
