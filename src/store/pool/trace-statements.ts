import type pg from 'pg';
import { type Step, traced } from '../../platform/telemetry/tracing.ts';

/**
 * Traces each statement that `on` runs for a promise, by its name. Statements that a pool passes to its clients with a
 * callback are traced by the pool.
 */
export function traceStatements(on: pg.Client | pg.Pool, role: string): void {
  const { query } = on;
  on.query = ((statement: unknown, ...rest: unknown[]) => {
    const run = () => Reflect.apply(query, on, [statement, ...rest]);
    const text = textOf(statement);
    if (text === null || typeof rest.at(-1) === 'function') return run();
    return traced(() => stepOf(nameOf(statement, text), role), run);
  }) as typeof query;
}

/** The step of a statement with this text, for `traced`. */
export function statementStep(text: string, role: string): Step {
  return stepOf(nameOf(undefined, text), role);
}

function stepOf(name: string, role: string): Step {
  return {
    name,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'dbvitals.store.role': role },
  };
}

/** The text of a statement; null = an object that runs itself, such as a COPY. */
function textOf(statement: unknown): string | null {
  if (typeof statement === 'string') return statement;
  if (typeof statement !== 'object' || statement === null || 'submit' in statement) return null;
  return 'text' in statement && typeof statement.text === 'string' ? statement.text : null;
}

/** The statement's name, or its first verb and table, such as `select connection`. Nothing else of its text is traced. */
function nameOf(statement: unknown, text: string): string {
  if (typeof statement === 'object' && statement !== null && 'name' in statement && statement.name) {
    return String(statement.name);
  }
  const [, verb = 'statement'] = /^\s*([a-z]+)/i.exec(text) ?? [];
  const [, table] = /\b(?:from|into|update)\s+([a-z_][a-z0-9_]*)\b(?!\s*\()/.exec(text) ?? [];
  return table ? `${verb} ${table}` : verb;
}
