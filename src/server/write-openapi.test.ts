import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { STATUS } from '../http/errors.ts';
import { openapiText } from './write-openapi.ts';

test('openapi.json matches the schemas; `npm run openapi` writes it', () => {
  const written = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  expect(written).toBe(openapiText());
});

test('the document contains every error code except that of methods other than GET', () => {
  const { schemas } = JSON.parse(openapiText()).components;
  const codes = Object.values<{ properties: { error?: { properties: { code: { enum: string[] } } } } }>(
    schemas,
  ).flatMap(({ properties }) => properties.error?.properties.code.enum ?? []);
  expect([...codes, 'method_not_allowed'].sort()).toEqual(Object.keys(STATUS).sort());
});
