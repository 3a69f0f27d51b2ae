import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EVENT_EXAMPLES } from '../../api/openapi/event-examples.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/notifications/webhooks.md');

test('the documentation of webhooks shows the frozen example of every event', () => {
  const blocks = readFileSync(DOCUMENT, 'utf8').matchAll(/```json\n([\s\S]*?)```/g);
  const shown = [...blocks].map(([, block = '']) => JSON.parse(block));
  expect(shown).toEqual(Object.values(EVENT_EXAMPLES));
});
