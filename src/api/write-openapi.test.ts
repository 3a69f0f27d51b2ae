import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as errors from '../http/errors.ts';
import { openapiText } from './write-openapi.ts';

test('openapi.json matches the schemas; `npm run openapi` writes it', () => {
  const written = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  expect(written).toBe(openapiText());
});

test('the document contains every error code except those of other methods and of messages of assistants', () => {
  const { schemas } = JSON.parse(openapiText()).components;
  const codes = Object.values<{ properties: { error?: { properties: { code: { enum: string[] } } } } }>(
    schemas,
  ).flatMap(({ properties }) => properties.error?.properties.code.enum ?? []);
  const named = new Set(['invalid_parameter', ...Object.values(errors).map(({ code }) => code)]);
  const others = ['method_not_allowed', 'body_too_large', 'origin_not_allowed'];
  expect([...codes, ...others].sort()).toEqual([...named].sort());
});
