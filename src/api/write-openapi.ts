import { readFileSync, writeFileSync } from 'node:fs';
import { ENDPOINTS } from './app.ts';
import { EVENT_EXAMPLES } from './openapi/event-examples.ts';
import { EVENTS } from './openapi/event-schemas.ts';
import { openapi } from './openapi/openapi.ts';

const DOCUMENT = new URL('../../openapi.json', import.meta.url);
const ANSWERS = new URL('./openapi/example-answers.json', import.meta.url);

/** Returns the OpenAPI document, as `openapi.json` contains it. */
export function openapiText(): string {
  const answers = JSON.parse(readFileSync(ANSWERS, 'utf8'));
  const document = openapi({ endpoints: ENDPOINTS, events: EVENTS, answers, eventExamples: EVENT_EXAMPLES });
  return `${JSON.stringify(document, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(DOCUMENT, openapiText());
