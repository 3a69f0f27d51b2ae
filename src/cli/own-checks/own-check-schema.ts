import { OWN_OPERATORS, OWN_UNITS, type OwnCheck } from '../../checks/own/own-check.ts';
import { LONGEST_SQL } from '../../checks/own/own-statement.ts';
import { requireOwnCheck, TIMEOUT_SECONDS } from '../../connections/own-checks/own-check-rules.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { SQL_ENGINES, type SqlEngine } from '../../vocabulary/engines.ts';
import { noteRepeated, type ReadFile } from '../apply/configuration-file.ts';
import type { Path } from '../apply/schema-problems.ts';
import { durationOf } from '../arguments.ts';

/** The engines as a file names them; PostgreSQL has two names. */
export const WRITTEN_ENGINES = ['postgresql', ...SQL_ENGINES] as const;

/** The schema of an own check in a file. */
export const ownCheckSchema = Type.Object(
  {
    id: text(
      'Capital letters, digits and _, such as ORDERS_STUCK. Findings show it as OWN_ORDERS_STUCK.',
      40,
    ),
    title: text('What is wrong when it reports, such as Orders wait for payment.', 100),
    engine: word(WRITTEN_ENGINES),
    database: Type.Optional(text('The database in which it runs (default: that of the connection).', 63)),
    sql: text('One SELECT that gives value, or at most 100 rows of object and value.', LONGEST_SQL),
    unit: word(OWN_UNITS),
    operator: word(OWN_OPERATORS),
    warning: Type.Optional(Type.Number({ description: 'The value from which it is a warning.' })),
    critical: Type.Optional(Type.Number({ description: 'The value from which it is critical.' })),
    remediation: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'What to do, for your team. Nothing runs it.' }),
    ),
    every: Type.Optional(
      text('How often the statement runs at most, 1m to 7d (default: in each health check).'),
    ),
    timeout: Type.Optional(
      text(`How long the statement may take, 1s to 30s (default: ${TIMEOUT_SECONDS.usual}s).`),
    ),
    connections: Type.Optional(
      Type.Object(
        {
          tags: Type.Array(Type.String(), {
            description: 'Tags that a connection must all have, such as env:production.',
          }),
        },
        {
          additionalProperties: false,
          description: 'The connections it runs on: tags, a list (default: all of its engine).',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'A check that you wrote, identified by its id in the account: id, title, engine, sql, unit, operator, and warning or critical.',
  },
);

type WrittenOwnCheck = Static<typeof ownCheckSchema>;

/** Parses own checks, and notes their problems. */
export function ownChecksIn(file: ReadFile, path: Path, written: readonly WrittenOwnCheck[]): OwnCheck[] {
  noteRepeated(file, path, written, 'id', ({ id }) => id);
  return written.flatMap((one, at) => {
    const { engine, database, warning, critical, remediation, every, timeout, connections } = one;
    const field = <T>(of: string, parse: () => T) => file.attempt([...path, at, of], parse);
    const own: OwnCheck = {
      id: one.id,
      title: one.title,
      engine: engineOf(engine),
      database: database ?? null,
      sql: one.sql.trim(),
      unit: one.unit,
      operator: one.operator,
      warning: warning ?? null,
      critical: critical ?? null,
      remediation: remediation?.trim() ?? '',
      every: every === undefined ? null : (field('every', () => everyOf('The time')(every)) ?? null),
      timeout:
        timeout === undefined
          ? TIMEOUT_SECONDS.usual
          : (field('timeout', () => timeoutOf('The time limit')(timeout)) ?? TIMEOUT_SECONDS.usual),
      tags: connections?.tags ?? [],
    };
    return file.attempt([...path, at], () => requireOwnCheck(own)) ?? [];
  });
}

/** The engine of a name in a file, or of an option. */
export function engineOf(written: (typeof WRITTEN_ENGINES)[number]): SqlEngine {
  return written === 'postgresql' ? 'postgres' : written;
}

/** Parser of the time between two readings. Returns seconds. */
export function everyOf(option: string): (text: string) => number {
  return durationOf(option, '1m', '7d');
}

/** Parser of the time limit of a statement. Returns seconds. */
export function timeoutOf(option: string): (text: string) => number {
  return durationOf(option, '1s', `${TIMEOUT_SECONDS.most}s`);
}

function text(description: string, maxLength = 200) {
  return Type.String({ minLength: 1, maxLength, description });
}

function word<const Word extends string>(words: readonly Word[]) {
  return Type.Unsafe<Word>({ type: 'string', enum: words, description: `One of ${words.join(', ')}.` });
}
