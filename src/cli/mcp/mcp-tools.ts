import { readFileSync } from 'node:fs';
import type { JsonSchemaType } from '@modelcontextprotocol/server';
import { inPackage } from '../../config/package-root.ts';

/** The description of an endpoint for an assistant. */
interface Described {
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
const operations = new Map(Object.values(document.paths).map(({ get }) => [get.operationId, get]));

/** Describes an operation of the OpenAPI document as a tool. */
export function describeTool(operationId: string): Described {
  const operation = operations.get(operationId);
  if (operation === undefined) throw new Error(`openapi.json has no operation ${operationId}.`);
  const { summary, description, parameters = [], responses } = operation;
  const given = parameters.filter(({ in: place }) => place === 'query' || place === 'path');
  return {
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
