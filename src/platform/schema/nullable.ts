import { type Static, type TSchema, type TUnsafe, Type } from './schema.ts';

/** The schema of a value that may be missing. Its key is then present and null. */
export function nullable<Schema extends TSchema & { type: string }>(
  schema: Schema,
): TUnsafe<Static<Schema> | null> {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] });
}
