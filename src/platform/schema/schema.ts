import type { Type as TypeBox } from 'typebox';

export type { Static, TInteger, TObject, TOptional, TProperties, TSchema, TString, TUnsafe } from 'typebox';

/** A JSON Schema under construction. */
type Schema = Record<string, unknown>;

const OPTIONAL = '~optional';

/** JSON Schemas of the same keys, in the same order, as TypeBox's, whose types they have. docs/decisions/0021-openapi.md says why. */
export const Type = {
  Unknown: schema,
  Unsafe: schema,
  Null: (options?: object) => schema({ type: 'null' }, options),
  Boolean: (options?: object) => schema({ type: 'boolean' }, options),
  Integer: (options?: object) => schema({ type: 'integer' }, options),
  Number: (options?: object) => schema({ type: 'number' }, options),
  String: (options?: object) => schema({ type: 'string' }, options),
  Literal: (value: unknown, options?: object) => schema({ type: typeof value, const: value }, options),
  Array: (items: Schema, options?: object) => schema({ type: 'array', items }, options),
  Union: (anyOf: readonly Schema[], options?: object) => schema({ anyOf }, options),
  Record: (key: Schema, value: Schema, options?: object) =>
    schema({ type: 'object', patternProperties: { [String(key['pattern'] ?? '^.*$')]: value } }, options),
  Object: object,
  Partial: ({ properties }: { properties: Record<string, Schema> }, options?: object) =>
    object(Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, optional(of)])), options),
  Optional: optional,
} as unknown as Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;

function schema(...parts: (object | undefined)[]): Schema {
  return Object.assign({}, ...parts);
}

function object(properties: Record<string, Schema>, options?: object): Schema {
  const required = Object.keys(properties).filter((name) => properties[name]?.[OPTIONAL] !== true);
  return schema({ type: 'object', ...(required.length > 0 && { required }), properties }, options);
}

/** The mark is not enumerable, so it is not printed, and a copy of the schema is required. */
function optional(of: Schema): Schema {
  return Object.defineProperty(schema(of), OPTIONAL, { value: true });
}
