import type { FastifyValidationResult } from 'fastify/types/schema.js';
import type { TObject } from '../vocabulary/schema.ts';
import { recordable } from './edge/edge.ts';
import { ApiError } from './errors.ts';
import { parseParameter } from './query-parameters.ts';

/**
 * Validates the query's parameters with the endpoint's schema, which `validate` checks. Throws a 400 that names the parameter and its rule, the
 * `description` of its schema. Names that begin with `_` are cache-busters and are ignored.
 */
export function checkQuery(
  given: Readonly<Record<string, string | string[]>>,
  schema: TObject,
  validate: FastifyValidationResult | undefined,
): Record<string, unknown> {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith('_')) continue;
    if (!Object.hasOwn(schema.properties, name)) {
      throw new ApiError('invalid_parameter', unknownParameter(schema), recordable(name));
    }
    if (typeof value !== 'string') throw new ApiError('invalid_parameter', `Give ${name} once only.`, name);
    if (value === '') throw new ApiError('invalid_parameter', `Give ${name} a value, or leave it out.`, name);
    query[name] = value;
  }
  if (!validate || validate(query)) {
    const values = Object.entries(query).map(([name, text]) => [
      name,
      parseParameter(schema.properties[name], text),
    ]);
    return Object.fromEntries(values);
  }
  const name = validate.errors?.[0]?.instancePath?.slice(1) ?? '';
  const rule = schema.properties[name] as { description?: string } | undefined;
  throw new ApiError('invalid_parameter', rule?.description ?? 'The parameters are wrong.', name);
}

function unknownParameter(schema: TObject): string {
  const names = Object.keys(schema.properties);
  if (names.length === 0) return 'This endpoint takes no parameters.';
  return `There is no such parameter: the allowed ones are ${names.join(', ')}.`;
}
