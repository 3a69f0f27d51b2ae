import { type TOptional, type TSchema, type TString, type TUnsafe, Type } from '../platform/schema/schema.ts';
import { DATE_FORM, type PointOfTime, parseDate } from '../platform/text/date-range.ts';

// A query is text, so its parameters are validated as text. Callers think of numbers, so the document describes numbers.
const DOCUMENTED = Symbol('documented');
const PARSE = Symbol('parse');
const REPEATABLE = Symbol('repeatable');

/** A parameter in the OpenAPI document. */
interface Documented {
  description: string;
  schema: Record<string, unknown>;
  required?: true;
}

/** Returns the document's version of a parameter that one of the functions below created. Throws for any other schema. */
export function documented(parameter: TSchema): Documented {
  const found = (parameter as { [DOCUMENTED]?: Documented })[DOCUMENTED];
  if (!found) throw new Error('Create query parameters with the functions of query-parameters.ts.');
  return found;
}

/** The value of a parameter whose text has passed its schema: a number, a point of time, or the text itself. */
export function parseParameter(parameter: TSchema | undefined, text: string): unknown {
  const { [PARSE]: parse } = (parameter ?? {}) as { [PARSE]?: (text: string) => unknown };
  return parse ? parse(text) : text;
}

/** Whether a parameter may occur several times. Its value is then a list. */
export function isRepeatable(parameter: TSchema | undefined): boolean {
  return (parameter as { [REPEATABLE]?: boolean } | undefined)?.[REPEATABLE] === true;
}

/** The bounds of a whole number, both included; `maximum` is at least 10. */
interface Bounds {
  minimum: 0 | 1;
  maximum?: number;
  default?: number;
}

/** A whole number without sign, leading zeros or fraction; by default up to 2^53 - 1. `meaning` is a sentence. */
export function wholeNumber(name: string, meaning: string, bounds: Bounds): TOptional<TUnsafe<number>> {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = bounds;
  const positive = upTo(maximum);
  return Type.Optional(
    Type.Unsafe<number>({
      type: 'string',
      pattern: minimum === 0 ? `^(?:0|${positive})$` : `^(?:${positive})$`,
      description: `${name} must be a whole number, ${minimum} to ${maximum}.`,
      [DOCUMENTED]: { description: meaning, schema: { type: 'integer', ...bounds, maximum } },
      [PARSE]: Number,
    }),
  );
}

/** A pattern of the numbers from 1 to a maximum of at least two digits. */
function upTo(maximum: number): string {
  const digits = String(maximum);
  const fewer = `[1-9][0-9]{0,${digits.length - 2}}`;
  // Numbers as long as the maximum that are lower from one digit on.
  const lower = [...digits].flatMap((digit, at) => {
    const least = at === 0 ? 1 : 0;
    if (Number(digit) <= least) return [];
    return [`${digits.slice(0, at)}[${least}-${Number(digit) - 1}][0-9]{${digits.length - at - 1}}`];
  });
  return [fewer, ...lower, digits].join('|');
}

/** One of the values, spelled exactly. */
export function oneOf(
  name: string,
  meaning: string,
  values: readonly string[],
  preset?: string,
): TOptional<TString> {
  const listed = `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
  return Type.Optional(
    Type.String({
      enum: [...values],
      description: `${name} must be ${listed}.`,
      [DOCUMENTED]: {
        description: meaning,
        schema: { type: 'string', enum: values, ...(preset === undefined ? {} : { default: preset }) },
      },
    }),
  );
}

/** Text. `rule` follows the parameter's name in a 400; `check` is for the validator, `told` for the document. */
export function text(
  name: string,
  meaning: string,
  rule: string,
  check: { format?: string; minLength?: number },
  told: Record<string, unknown>,
): TOptional<TString> {
  return Type.Optional(
    Type.String({
      ...check,
      description: `${name} ${rule}`,
      [DOCUMENTED]: { description: meaning, schema: { type: 'string', ...told } },
    }),
  );
}

/** A date or a date-time, as `parseDate` reads it. `rule` is what a 400 says after the parameter's name. */
export function pointOfTime(name: string, meaning: string, rule: string): TOptional<TUnsafe<PointOfTime>> {
  return Type.Optional(
    Type.Unsafe<PointOfTime>({
      type: 'string',
      format: 'date-or-time',
      description: `${name} ${rule}`,
      [DOCUMENTED]: { description: meaning, schema: { type: 'string', pattern: DATE_FORM.source } },
      [PARSE]: parseDate,
    }),
  );
}

/** A text that the endpoint cannot do without: it throws a 400 with the same `rule` where it is missing. */
export function requiredText(
  name: string,
  meaning: string,
  rule: string,
  pattern: string,
): TOptional<TUnsafe<string>> {
  return Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      pattern,
      description: `${name} ${rule}`,
      [DOCUMENTED]: { description: meaning, required: true, schema: { type: 'string', pattern } },
    }),
  );
}

/** Text that may occur several times. `check` is of each value, and `parse` reads one; `told` is for the document. */
export function repeatedText(
  name: string,
  meaning: string,
  rule: string,
  {
    most,
    check,
    parse,
    told = { type: 'array', maxItems: most, items: { type: 'string', minLength: 1 } },
  }: {
    most: number;
    check: { format?: string; minLength?: number };
    parse?: (text: string) => string;
    told?: Record<string, unknown>;
  },
): TOptional<TUnsafe<string[]>> {
  return Type.Optional(
    Type.Unsafe<string[]>({
      type: 'array',
      maxItems: most,
      items: { type: 'string', ...check },
      description: `${name} ${rule}`,
      [REPEATABLE]: true,
      [DOCUMENTED]: { description: meaning, schema: told },
      ...(parse && { [PARSE]: parse }),
    }),
  );
}

/** Some of the values, separated by commas, each once and spelled exactly. */
export function someOf<const Value extends string>(
  name: string,
  meaning: string,
  values: readonly Value[],
): TOptional<TUnsafe<readonly Value[]>> {
  const one = `(?:${values.join('|')})`;
  const list = `${one}(?:,${one}){0,${values.length - 1}}`;
  // No value stands before a comma and again behind it. The list comes first, so that a long text is not searched for that.
  const pattern = `^(?=${list}$)(?!(?:.*,)?([a-z_]+),(?:.*,)?\\1(?:,|$))`;
  return Type.Optional(
    Type.Unsafe<readonly Value[]>({
      type: 'string',
      pattern,
      description: `${name} must be some of ${values.join(', ')}, separated by commas, each once.`,
      [DOCUMENTED]: {
        description: `${meaning} Some of ${values.map((value) => `\`${value}\``).join(', ')}, separated by commas.`,
        schema: { type: 'string', pattern: `^${list}$` },
      },
      [PARSE]: (text: string) => text.split(','),
    }),
  );
}
