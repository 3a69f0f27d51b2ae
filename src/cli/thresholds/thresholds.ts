import type { ThresholdChanges } from '../../connections/connection-thresholds.ts';
import { type TSchema, Type } from '../../platform/schema/schema.ts';
import type { Catalogue } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/** Parser of `CHECK_ID.name=number`, repeatable; `CHECK_ID.name=` restores the default. */
export function thresholdsOf(text: string, before: ThresholdChanges = {}): ThresholdChanges {
  const [, id = '', name = '', number = ''] =
    /^([A-Za-z0-9_]+)\.([a-z0-9_]+)=([0-9]{1,15}(?:\.[0-9]{1,9})?)?$/.exec(text) ?? [];
  if (id === '') {
    throw new UsageError(
      '--threshold must be CHECK_ID.name=number, such as PG_DEAD_TUPLES.warning=0.2, or CHECK_ID.name= to restore the default.',
    );
  }
  const check = id.toUpperCase();
  return { ...before, [check]: { ...before[check], [name]: number === '' ? null : Number(number) } };
}

/** A pattern of the ids that own checks have in findings. */
export const OWN_CHECK_IDS = '^OWN_[A-Z][A-Z0-9_]{0,39}$';

/** The schema of thresholds by tag, in a file of `apply`. */
export function tagThresholdsSchema(checks: Catalogue['checks']) {
  const schema = Type.Object(
    {},
    {
      additionalProperties: thresholdsSchema(checks),
      description: 'Thresholds of the connections with a tag, by tag, such as env:test.',
    },
  );
  return Type.Unsafe<Record<string, Record<string, Record<string, number>>>>(schema);
}

/** The schema of thresholds by check and name, in a file of `apply`. */
export function thresholdsSchema(checks: Catalogue['checks']) {
  const named = checks.flatMap(({ id, title, thresholds: own = {} }) => {
    const numbers = Object.entries(own).map(([name, preset]) => [name, number(preset)] as const);
    const description = `${title}: ${Object.keys(own).join(', ')}.`;
    return numbers.length === 0
      ? []
      : [
          [
            id,
            Type.Object(Object.fromEntries(numbers), { additionalProperties: false, description }),
          ] as const,
        ];
  });
  const own = Type.Object(
    { warning: number('the own one'), critical: number('the own one') },
    { additionalProperties: false, description: 'An own check: warning, critical.' },
  );
  const schema = Type.Partial(Type.Object(Object.fromEntries(named)), {
    additionalProperties: false,
    patternProperties: { [OWN_CHECK_IDS]: own },
    description: 'Thresholds that differ from the default, by check and name.',
  });
  return Type.Unsafe<Record<string, Record<string, number>>>(schema);
}

function number(preset: number | string): TSchema {
  return Type.Optional(
    Type.Number({ minimum: 0, maximum: 1e15, description: `A number from 0 (default: ${preset}).` }),
  );
}
