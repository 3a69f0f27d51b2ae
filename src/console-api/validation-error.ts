import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { recordable } from '../http/edge/edge.ts';
import { Rejection } from '../platform/rejection.ts';
import type { TObject } from '../platform/schema/schema.ts';

/** The 400 for an invalid body. It names the field and its rule, which is the field's `description`. */
export function bodyValidationError(
  schema: TObject,
  { validation }: { validation: readonly FastifySchemaValidationError[] },
): Rejection {
  const [flaw] = validation;
  const { missingProperty, additionalProperty } = (flaw?.params ?? {}) as Record<string, unknown>;
  const outer = flaw?.instancePath.split('/')[1];
  const names = Object.keys(schema.properties);
  if (outer === undefined && typeof additionalProperty === 'string') {
    return new Rejection('invalid_parameter', `There is no such field. Use ${names.join(', ') || 'none'}.`, {
      parameter: recordable(additionalProperty).slice(0, 100),
    });
  }
  const name = outer ?? (typeof missingProperty === 'string' ? missingProperty : null);
  if (name === null) {
    return new Rejection('invalid_parameter', `Send one JSON object with the fields ${names.join(', ')}.`);
  }
  return fieldValidationError(schema, name);
}

/** The 400 for one field of a body, with the field's rule. */
export function fieldValidationError(schema: TObject, name: string): Rejection {
  const rule: { description?: string } | undefined = schema.properties[name];
  return new Rejection('invalid_parameter', rule?.description ?? `The value of ${name} is not valid.`, {
    parameter: name,
  });
}
