import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fastJsonStringify from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { parseDate } from '../../platform/text/date-range.ts';
import { normalisedTag } from '../../platform/text/tags.ts';

/**
 * Compiles the schemas of the app's routes when they are first used: compiling all took a third of the service's start.
 * Requests are validated as they are: values are not coerced, dropped or filled in.
 */
export function compileSchemasOnUse(app: FastifyInstance): void {
  app.setValidatorCompiler<object>(({ schema }) => validatorOnUse(schema));
  app.setSerializerCompiler<object>(({ schema }) => serializerOnUse(schema));
}

/** A validator that compiles its schema when it is first used. */
export function validatorOnUse(schema: object): FastifyValidationResult {
  const compiled = once(() => ajv().compile(schema));
  const validate: FastifyValidationResult = (data) => {
    const isValid = compiled()(data);
    validate.errors = compiled().errors ?? null;
    return isValid;
  };
  return validate;
}

/** A serializer that compiles its schema when it is first used. */
export function serializerOnUse(schema: object): (data: unknown) => string {
  const compiled = once(() => fastJsonStringify(schema));
  return (data) => compiled()(data);
}

const ajv = once(createAjv);

function createAjv(): Ajv {
  // The schemas are ours: without validating them, compiling takes half as long.
  const asTheyAre = { meta: false, validateSchema: false, strictTypes: false, strictTuples: false } as const;
  const ajv = new Ajv({ addUsedSchema: false, ...asTheyAre }); // its advice would go into the service's log, between lines of JSON
  addFormats.default(ajv);
  ajv.addFormat('tag', (text: string) => normalisedTag(text) !== null);
  return ajv.addFormat('date-or-time', (text: string) => parseDate(text) !== null);
}

function once<T extends object>(make: () => T): () => T {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
