import { Errors } from 'typebox/schema';
import { Settings } from 'typebox/system';
import type { TSchema } from '../../platform/schema/schema.ts';

/** A path in the file: field names and indexes of lists, from the top. */
export type Path = readonly (string | number)[];

/** A problem of a field. */
export interface SchemaProblem {
  path: Path;
  sentence: string;
  /** The position, if not `path`: a name that the message does not quote, because it may be a misplaced secret. */
  at?: Path;
}

// A longer list of fields would not be read.
const MOST_NAMES = 20;

/** Lists how a value violates its schema. The message is the description of the field, and never quotes the value. */
export function* schemaProblems(schema: TSchema, value: unknown): Generator<SchemaProblem> {
  Settings.Set({ maxErrors: 100 }); // 8 otherwise
  const [, errors] = Errors(schema, value);
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ schemaPath }) => schemaPath);
  for (const error of errors) {
    const path = pathOf(error.instancePath);
    const ofUnion = unions.some((union) => error.schemaPath.startsWith(`${union}/`));
    if (error.keyword === 'boolean' || ofUnion) continue; // another error covers it
    const rule = ruleAt(schema, error.schemaPath);
    if (error.keyword === 'additionalProperties') {
      const names = Object.keys(rule.properties ?? {});
      const sentence =
        names.length > MOST_NAMES
          ? 'There is no such check, or it has no thresholds.'
          : `Unknown field: use one of ${names.join(', ')}.`;
      for (const name of error.params.additionalProperties) {
        const at = [...path, name];
        yield { path: isTellable(path, name, names) ? at : path, sentence, at };
      }
    } else if (error.keyword === 'required') {
      yield { path, sentence: `Give ${error.params.requiredProperties.join(', ')}.` };
    } else {
      yield { path, sentence: rule.description ?? 'The value has the wrong type.' };
    }
  }
}

/**
 * Whether a message may quote a name. At the top level it may be any line of a wrong file, and in place of a secret
 * it may be the secret.
 */
function isTellable(path: Path, name: string, allowed: readonly string[]): boolean {
  return path.length > 0 && /^[A-Za-z][\w-]{0,39}$/.test(name) && allowed.join() !== 'env,file';
}

interface Rule {
  description?: string;
  properties?: Record<string, unknown>;
}

function ruleAt(schema: TSchema, pointer: string): Rule {
  const steps = pathOf(pointer.replace(/^#/, ''));
  return steps.reduce<Rule>((rule, step) => Reflect.get(rule, step) ?? {}, schema);
}

function pathOf(pointer: string): Path {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return /^(0|[1-9][0-9]*)$/.test(name) ? Number(name) : name;
  });
}
