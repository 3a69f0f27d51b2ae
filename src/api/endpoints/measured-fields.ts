import { openSet } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { Type } from '../../platform/schema/schema.ts';
import { UNITS, unitOf } from '../../vocabulary/units.ts';

// The fields that `include` adds to findings and tickets.

/** The number that a fault comes from, as it is stored. */
export interface FaultNumber {
  metric: string;
  value: number;
  operator: string;
  threshold: number;
}

const NONE = 'null if the finding comes from no number; with `include=measured`';

export const measuredFields = {
  metric: Type.Optional(nullable(Type.String({ description: `what was measured; ${NONE}` }))),
  value: Type.Optional(nullable(Type.Number({ description: `the measured value; ${NONE}` }))),
  unit: Type.Optional(nullable(openSet(UNITS, `base unit of the value; ${NONE}`))),
  operator: Type.Optional(
    nullable(openSet(['>=', '<='], `how the value is compared with the threshold; ${NONE}`)),
  ),
  threshold: Type.Optional(nullable(Type.Number({ description: `the threshold that was crossed; ${NONE}` }))),
};

export const objectFields = {
  database: Type.Optional(
    nullable(Type.String({ description: 'the database; null for the whole server; with `include=object`' })),
  ),
  object: Type.Optional(
    nullable(
      Type.String({
        description: 'the affected object; null for the whole database or server; with `include=object`',
      }),
    ),
  ),
};

/** {@link measuredFields} of a finding or ticket; all null if it comes from no number. */
export function toMeasuredFields(measured: FaultNumber | null | undefined) {
  if (!measured) return { metric: null, value: null, unit: null, operator: null, threshold: null };
  const { metric, value, operator, threshold } = measured;
  return { metric, value, unit: unitOf(metric), operator, threshold };
}
