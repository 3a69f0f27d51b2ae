import { type TUnsafe, Type } from './schema.ts';

/** The schema of a string enum; its static type is the union of the values. */
export function stringEnum<const Value extends string>(
  ...values: Value[]
): TUnsafe<Value> & { type: 'string' } {
  return Object.assign(Type.Unsafe<Value>({ type: 'string', enum: values }), { type: 'string' } as const);
}
