import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { closeBrowser, type Look, openWindow, settled, visit, WIDE } from './chromium.ts';
import { startConsoleService } from './console-service.ts';

// Takes the README's screenshots of the current console.

const FOLDER = join(import.meta.dirname, '../../docs/pictures');
/** The connection with the lowest score. */
const WORST = 'payments primary';

const service = await startConsoleService({ connections: 14, tickets: 110, activity: 500 });

/** Opens a page of the console as an owner, runs `show`, and saves a screenshot. */
async function take(
  name: string,
  path: string,
  scheme: Look['scheme'],
  show: (page: Page) => Promise<unknown>,
): Promise<void> {
  const { page, close } = await openWindow(service.origin, owner, { scheme, ...WIDE });
  await visit(page, path);
  await show(page);
  await settled(page);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled' });
  await close();
}

const owner = await service.owner();
await service.ask(owner, 'PATCH', '/onboarding', { dismissed: true }); // room for the list
try {
  await take('fleet', '/fleet', 'light', () => Promise.resolve());
  await take('connection', '/fleet', 'dark', async (page) => {
    await page.getByRole('link', { name: WORST }).first().click();
    await page.getByRole('heading', { level: 1, name: WORST }).waitFor();
    await settled(page);
  });
  await take('create-key', '/keys?create=1&name=Grafana', 'light', (page) =>
    page.getByRole('dialog').waitFor(),
  );
} finally {
  await closeBrowser();
  await service.stop();
}
