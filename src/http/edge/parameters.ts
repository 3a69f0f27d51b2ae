import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { invalidParameter } from '../../platform/rejection.ts';
import type { TObject } from '../../platform/schema/schema.ts';
import { isRepeatable, parseParameter } from '../query-parameters.ts';
import { recordable } from './edge.ts';

/**
 * Validates the query's parameters with the endpoint's schema, which `validate` checks. Throws a 400 that names the parameter and its rule, the
 * `description` of its schema. Names that begin with `_` are cache-busters and are ignored.
 */
export function checkQuery(
  given: Readonly<Record<string, string | string[]>>,
  schema: TObject,
  validate: FastifyValidationResult | undefined,
): Record<string, unknown> {
  const query: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith('_')) continue;
    if (!Object.hasOwn(schema.properties, name)) {
      throw invalidParameter(recordable(name), unknownParameter(schema));
    }
    const repeatable = isRepeatable(schema.properties[name]);
    if (typeof value !== 'string' && !repeatable) throw invalidParameter(name, `Give ${name} once only.`);
    if (value === '' || (typeof value !== 'string' && value.includes('')))
      throw invalidParameter(name, `Give ${name} a value, or leave it out.`);
    query[name] = repeatable ? [value].flat() : value;
  }
  if (!validate || validate(query)) {
    const values = Object.entries(query).map(([name, given]) => {
      const parameter = schema.properties[name];
      const parse = (text: string) => parseParameter(parameter, text);
      return [name, typeof given === 'string' ? parse(given) : given.map(parse)];
    });
    return Object.fromEntries(values);
  }
  const [, name = ''] = validate.errors?.[0]?.instancePath?.split('/') ?? [];
  const rule = schema.properties[name] as { description?: string } | undefined;
  throw invalidParameter(name, rule?.description ?? 'The parameters are wrong.');
}

function unknownParameter(schema: TObject): string {
  const names = Object.keys(schema.properties);
  if (names.length === 0) return 'This endpoint takes no parameters.';
  return `There is no such parameter: the allowed ones are ${names.join(', ')}.`;
}
