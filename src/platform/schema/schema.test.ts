import { Type as TypeBox } from 'typebox';
import { expect, test } from 'vitest';
import { Type } from './schema.ts';

const DESCRIBED = { description: 'a description' };

/** Every builder, with and without options, as either library makes it. */
const schemas = (of: typeof Type) => {
  const fields = { name: of.String({ minLength: 1 }), age: of.Optional(of.Integer({ minimum: 0 })) };
  const shared = of.Boolean();
  return [
    of.Unknown(),
    of.Unknown(DESCRIBED),
    of.Unsafe({ enum: [1, 'a'] }),
    of.Null(),
    of.Null(DESCRIBED),
    of.Boolean(DESCRIBED),
    of.Integer(),
    of.Number({ maximum: 1 }),
    of.String({ format: 'uri' }),
    of.Literal('a'),
    of.Literal(true, DESCRIBED),
    of.Literal(7),
    of.Array(of.Number()),
    of.Array(of.String(), { maxItems: 3 }),
    of.Union([of.String(), of.Null()], DESCRIBED),
    of.Record(of.String(), of.Number()),
    of.Record(of.String({ pattern: '^[a-z]+$' }), of.Null(), DESCRIBED),
    of.Object({}),
    of.Object(fields),
    of.Object(fields, { additionalProperties: false, ...DESCRIBED }),
    of.Object({ all: of.Optional(of.Null()) }),
    of.Partial(of.Object(fields)),
    of.Partial(of.Object(fields, DESCRIBED), { title: 'a title' }),
    of.Object({ inner: of.Object(fields), list: of.Array(of.Object(fields)) }),
    // A schema may be optional in one object and required in another, and a copy of an optional one is required.
    of.Object({ optional: of.Optional(shared), required: shared, copy: { ...of.Optional(shared) } }),
  ].map((schema) => JSON.stringify(schema));
};

test('schemas are printed as TypeBox prints them, byte for byte', () => {
  expect(schemas(Type)).toEqual(schemas(TypeBox));
});
