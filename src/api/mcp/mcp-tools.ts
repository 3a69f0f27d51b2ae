import { readFileSync } from 'node:fs';
import type { JsonSchemaType } from '@modelcontextprotocol/server';
import { inPackage } from '../../platform/package-root.ts';

/** An endpoint as a tool of an assistant. */
interface Tool {
  /** The operation's name. */
  name: string;
  title: string;
  description: string;
  /** The parameters in path and query, by name. */
  inputSchema: JsonSchemaType;
  /** The schema of the answer. */
  outputSchema: JsonSchemaType;
  /** The API's defaults for missing parameters. */
  defaults: Record<string, unknown>;
}

type Schema = Record<string, unknown>;

/** The parts of the OpenAPI document that are used here. */
interface Document {
  paths: Record<string, { get: Operation }>;
  components: { schemas: Record<string, Schema> };
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters?: { name: string; in: string; required?: boolean; description: string; schema: Schema }[];
  responses: { 200: { content: { 'application/json': { schema: Schema } } } };
}

const document: Document = JSON.parse(readFileSync(inPackage('openapi.json'), 'utf8'));

/** The tools: one for each operation of the OpenAPI document. */
export const TOOLS: readonly Tool[] = Object.values(document.paths).map(({ get }) => toTool(get));

const paths = new Map(Object.entries(document.paths).map(([path, { get }]) => [get.operationId, path]));

/** The path and the query of the request that a tool call stands for. */
export function toolUrl(name: string, given: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  const rest = new Map(Object.entries(given));
  const path = (paths.get(name) ?? '').replace(/\{(\w+)\}/g, (_, parameter) => {
    const value = rest.get(parameter);
    rest.delete(parameter);
    return encodeURIComponent(String(value));
  });
  for (const [parameter, value] of rest) {
    for (const one of [value].flat()) query.append(parameter, String(one));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

function toTool({ operationId, summary, description, parameters = [], responses }: Operation): Tool {
  const given = parameters.filter(({ in: place }) => place === 'query' || place === 'path');
  return {
    name: operationId,
    title: summary,
    description: `${summary}. ${description}`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        given.map(({ name, schema, description }) => [name, { ...schema, description }]),
      ),
      required: given.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
    outputSchema: { ...schemaOf(responses[200].content['application/json'].schema), type: 'object' },
    defaults: Object.fromEntries(
      given.flatMap(({ name, schema }) => ('default' in schema ? [[name, schema['default']]] : [])),
    ),
  };
}

/**
 * Replaces references by the schemas that they refer to, because a tool's schema must be self-contained. No schema is
 * recursive.
 */
function schemaOf(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) =>
      keyword === '$ref' ? Object.entries(referred(String(value))) : [[keyword, resolved(value)]],
    ),
  );
}

function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved);
  return typeof value === 'object' && value !== null ? schemaOf({ ...value }) : value;
}

function referred(pointer: string): Schema {
  const schema = document.components.schemas[pointer.replace('#/components/schemas/', '')];
  if (schema === undefined) throw new Error(`openapi.json has no ${pointer}.`);
  return schemaOf(schema);
}
