import { type TInteger, type TString, Type } from './schema.ts';

// The types of a record's fields. The validator, the serializer and the OpenAPI document all use them.

/** An identifier: positive, below 2^53, so more than 32 bits can hold. */
export function identifier(description: string): TInteger {
  return Type.Integer({ format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });
}

/** A count: 0 or more. */
export function count(description: string): TInteger {
  return Type.Integer({ minimum: 0, description });
}

/** A health score. */
export function score(description: string): TInteger {
  return Type.Integer({ minimum: 0, maximum: 100, description });
}

/** A time in UTC with milliseconds and a trailing Z. */
export function timestamp(description: string): TString {
  return Type.String({ format: 'date-time', description });
}

/** A value of a closed set, which does not change within v1. */
export function closedSet(values: readonly string[], description: string): TString {
  return Type.String({ enum: [...values], description });
}

/** A value of an open set, which may grow within v1: clients must accept unknown values. */
export function openSet(values: readonly string[], description: string): TString {
  return Type.String({
    'x-extensible-enum': [...values],
    description: `${description}; an open set, so expect values that are not listed here`,
  });
}
