import { identifier } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, type TSchema, type TUnsafe, Type } from '../../platform/schema/schema.ts';

// The schemas of properties: each has a meaning and an example, of which the reference is made.

type Described<Schema> = Schema & { type: string };

/** An id. */
export function idField(description: string, example: number) {
  return { ...identifier(description), examples: [example] };
}

export function text(description: string, example: string) {
  return Type.String({ description, examples: [example] }) as Described<ReturnType<typeof Type.String>>;
}

export function number(description: string, example: number) {
  return Type.Number({ description, examples: [example] });
}

export function integer(description: string, example: number) {
  return Type.Integer({ description, examples: [example] });
}

export function flag(description: string) {
  return Type.Boolean({ description, examples: [true] });
}

/** An instant, which is recorded as the driver returns it, and read as RFC 3339 or PostgreSQL's format. */
export function instant(description: string): Described<TUnsafe<string | Date>> {
  const schema = { type: 'string', format: 'date-time', description, examples: ['2026-03-02T10:15:00.123Z'] };
  return { ...Type.Unsafe<string | Date>(schema), type: 'string' };
}

export function texts(
  description: string,
  example: readonly string[],
): Described<TUnsafe<readonly string[]>> {
  const items = { type: 'string' };
  const schema = { type: 'array', items, description, examples: [example] };
  return { ...Type.Unsafe<readonly string[]>(schema), type: 'array' };
}

export function ids(description: string, example: readonly number[]): Described<TUnsafe<readonly number[]>> {
  const schema = { type: 'array', items: { type: 'integer' }, description, examples: [example] };
  return { ...Type.Unsafe<readonly number[]>(schema), type: 'array' };
}

/** An object whose fields are not part of the catalogue, such as the values of changed settings. */
export function object(description: string, example: object): Described<TUnsafe<object>> {
  const schema = { type: 'object', additionalProperties: true, description, examples: [example] };
  return { ...Type.Unsafe<object>(schema), type: 'object' };
}

/** An array of objects whose fields are not part of the catalogue. */
export function list(description: string, example: readonly object[]): Described<TUnsafe<readonly object[]>> {
  const schema = { type: 'array', items: { type: 'object' }, description, examples: [example] };
  return { ...Type.Unsafe<readonly object[]>(schema), type: 'array' };
}

/** A value that may be missing: then it is null. */
export function orNull<Schema extends TSchema & { type: string }>(
  schema: Schema,
): TUnsafe<Static<Schema> | null> {
  return nullable(schema);
}

/** A property that some entries of the kind lack. */
export const optional = Type.Optional;

/** What changed: names, and the values before and after. */
export const CHANGES = {
  changed: texts('the names of what changed; a secret is named, never shown', ['name']),
  from: object('the values before', { name: 'shop' }),
  to: object('the values after', { name: 'orders' }),
};

export const name = text('its name', 'orders');
export const connectionId = idField('the connection', 4);
export const memberId = idField('the member', 3);
export const memberName = text("the member's name", 'Ada');
export const userAgent = orNull(text('the browser', 'Mozilla/5.0'));
export const severity = text('critical, warning or info', 'critical');
export const checkId = text('the check', 'PG_LONG_XACT');
