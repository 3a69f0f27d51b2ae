/** A message of the service that is none. */
export class InvalidJob extends Error {}

export type Fields = Readonly<Record<string, unknown>>;

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** The fields of an object. Throws {@link InvalidJob}. */
export function fieldsIn(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new InvalidJob('an object is missing');
}

/** A list. Throws {@link InvalidJob}. */
export function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new InvalidJob('a list is missing');
}
