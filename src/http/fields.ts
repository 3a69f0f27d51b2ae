import { type TInteger, type TString, Type } from 'typebox';

// What a record's fields are made of. All are read by the validator, the serializer and the OpenAPI document alike.

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

/** A point of time: UTC with milliseconds and a trailing Z. */
export function timestamp(description: string): TString {
  return Type.String({ format: 'date-time', description });
}

/** A value of a set that stays as it is within v1. */
export function closedSet(values: readonly string[], description: string): TString {
  return Type.String({ enum: [...values], description });
}

/** A value of a set to which v1 may add: readers must let unknown values pass. */
export function openSet(values: readonly string[], description: string): TString {
  return Type.String({
    'x-extensible-enum': [...values],
    description: `${description}; an open set, so expect values that are not listed here`,
  });
}
