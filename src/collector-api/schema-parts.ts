import { type TProperties, type TSchema, Type } from '../platform/schema/schema.ts';

// What the schemas of collectors' requests are made of.

/** An object without other fields. */
export const closed = <Fields extends TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

/** A list of a limited length. */
export const list = <Items extends TSchema>(items: Items, maxItems: number) =>
  Type.Array(items, { maxItems });

/** The name of a collector, or of a connection in its file. The store takes no NUL. */
export const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$' });
