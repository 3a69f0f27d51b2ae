import { readFileSync } from 'node:fs';
import { Compile } from 'typebox/schema';
import { expect } from 'vitest';

/** A JSON value of the OpenAPI document. */
export type Json = Record<string, unknown>;

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: {
    type: string;
    minimum?: number;
    maximum?: number;
    enum?: string[];
    default?: unknown;
    pattern?: string;
  };
}

export interface Described {
  description: string;
  headers?: Record<string, unknown>;
  content?: {
    'application/json': { schema: Json; example?: unknown; examples?: Record<string, { value: Json }> };
  };
}

/** An operation of the document, its references resolved. */
export interface Operation {
  path: string;
  operationId: string;
  parameters: Parameter[];
  responses: Record<string, Described>;
}

/** The committed document; `npm run openapi` writes it. */
export const committed = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');

/** Gives parts of a document with every reference replaced by what it names. */
export function resolver(document: Json): <T>(part: unknown) => T {
  const at = (pointer: string) =>
    pointer
      .slice(2)
      .split('/')
      .reduce<unknown>((value, step) => (value as Json)[step], document);
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...beside } = value as Json;
    const target = typeof $ref === 'string' ? { ...(resolve(at($ref)) as Json), ...beside } : value;
    return Object.fromEntries(Object.entries(target).map(([name, below]) => [name, resolve(below)]));
  };
  return <T>(part: unknown) => resolve(part) as T;
}

const document = JSON.parse(committed) as Json;
const resolved = resolver(document);

/** The document's operations. */
export const operations: Operation[] = Object.entries(document['paths'] as Record<string, { get: Json }>).map(
  ([path, { get }]) => ({ path, ...resolved<Omit<Operation, 'path'>>(get) }),
);

/** The events: their kind, schema and example. */
export const events = Object.entries(document['webhooks'] as Record<string, Json>).map(([kind, webhook]) => {
  const { post } = resolved<{ post: Json & { requestBody: Described } }>(webhook);
  const { schema = {}, example } = post.requestBody.content?.['application/json'] ?? {};
  return { kind, status: post['x-status'], schema, example };
});

/** Expects that the value is what the schema says, and has no field of which it says nothing. */
export function expectSchema(schema: Json, value: unknown, told: string): void {
  const [good, errors] = Compile(closed(schema) as Json).Errors(value);
  expect(good, `${told}: ${JSON.stringify(errors)}`).toBe(true);
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const isObject = 'properties' in schema && schema['properties'] !== null && 'type' in schema;
  return isObject && !('additionalProperties' in schema) ? { ...copy, additionalProperties: false } : copy;
}
