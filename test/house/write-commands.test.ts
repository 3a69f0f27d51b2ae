import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { activityPage } from './write-activity.ts';
import { commandsPage } from './write-commands.ts';

test('docs/reference/commands.md has every command and option; `npm run reference` writes it', async () => {
  const written = readFileSync(new URL('../../docs/reference/commands.md', import.meta.url), 'utf8');
  expect(written).toBe(await commandsPage());
});

test('docs/reference/activity.md has every action type; `npm run reference` writes it', () => {
  const written = readFileSync(new URL('../../docs/reference/activity.md', import.meta.url), 'utf8');
  expect(written).toBe(activityPage());
});
