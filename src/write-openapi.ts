import { readFileSync, writeFileSync } from 'node:fs';
import { ENDPOINTS } from './app.ts';
import { EVENTS } from './events/events.ts';
import { EVENT_EXAMPLES } from './events/examples.ts';
import { openapi } from './http/openapi.ts';

const DOCUMENT = new URL('../openapi.json', import.meta.url);
const ANSWERS = new URL('http/example-answers.json', import.meta.url);

/** The OpenAPI document as `openapi.json` has it. */
export function openapiText(): string {
  const answers = JSON.parse(readFileSync(ANSWERS, 'utf8'));
  const document = openapi({ endpoints: ENDPOINTS, events: EVENTS, answers, eventExamples: EVENT_EXAMPLES });
  return `${JSON.stringify(document, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(DOCUMENT, openapiText());
