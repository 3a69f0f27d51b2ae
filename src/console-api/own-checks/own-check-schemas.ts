import { OWN_OPERATORS, OWN_UNITS, type OwnCheck } from '../../checks/own/own-check.ts';
import { LONGEST_SQL } from '../../checks/own/own-statement.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { SQL_ENGINES } from '../../vocabulary/engines.ts';
import { FINDING_STATUSES } from '../../vocabulary/severities.ts';

// jsonb has no NUL and no lone surrogate.
const lines = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: String.raw`^[^\0\p{Cs}]*$`, description });

const level = (name: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `Enter a number as the ${name}, or leave it empty.`,
  });

const oneOf = <const Word extends string>(words: readonly Word[], description: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], description: `${description} ${words.join(', ')}.` });

/** What a statement's numbers mean. `connections/own-checks/own-check-rules.ts` has the rules. */
const judged = {
  sql: lines(LONGEST_SQL, `Enter one SELECT of at most ${LONGEST_SQL.toLocaleString('en')} characters.`),
  database: Type.Union([lines(63, ''), Type.Null()], { description: 'Enter the name of a database.' }),
  unit: oneOf(OWN_UNITS, 'Choose the unit from'),
  operator: oneOf(OWN_OPERATORS, 'Choose the comparison from'),
  warning: level('warning level'),
  critical: level('critical level'),
  timeout: Type.Integer({ description: 'Enter the time limit in whole seconds.' }),
};

const definition = {
  ...judged,
  title: lines(200, 'Enter a title of at most 100 characters.'),
  engine: oneOf(SQL_ENGINES, 'Choose the engine from'),
  remediation: lines(4_000, 'Enter what to do in at most 2,000 characters.'),
  every: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Enter the time between two readings in whole seconds, or leave it empty.',
  }),
  tags: Type.Array(lines(100, 'Enter tags such as env:production.'), {
    maxItems: 50,
    description: 'Enter at most 10 tags.',
  }),
};

/** POST /own-checks */
export const NewOwnCheckBody = Type.Object({
  id: lines(60, 'Enter an id such as ORDERS_STUCK.'),
  ...definition,
});

/** PATCH /own-checks/:check: all of the check, but its id. */
export const OwnCheckBody = Type.Object({
  ...definition,
  seen: Type.String({ maxLength: 40, description: 'Send changed_at of the check that was opened.' }),
});

export type NewOwnCheckBody = Static<typeof NewOwnCheckBody>;
export type OwnCheckBody = Static<typeof OwnCheckBody>;

/** POST /own-checks/try */
export const TryOwnCheckBody = Type.Object({
  connection_id: identifier('Choose a connection.'),
  ...judged,
});

export type TryOwnCheckBody = Static<typeof TryOwnCheckBody>;

/** The answer of POST /own-checks/try. It holds untrusted text of the server: render it as text. */
export const TriedOwnCheck = Type.Object({
  status: stringEnum(...FINDING_STATUSES),
  metric_line: Type.String(),
  values: Type.Array(Type.Object({ object: nullable(Type.String()), value: Type.Number() })),
  faults: count('rows that would be a fault'),
  milliseconds: Type.Integer({ description: 'what the statement took' }),
});

export type TriedOwnCheck = Static<typeof TriedOwnCheck>;

export const ShownOwnCheck = Type.Object({
  id: Type.String(),
  ...definition,
  connections: count('connections on which it runs'),
  changed_at: timestamp('when it was set'),
  changed_by: Type.String(),
});

export type ShownOwnCheck = Static<typeof ShownOwnCheck>;

/** GET /own-checks */
export const OwnChecks = Type.Object({
  items: Type.Array(ShownOwnCheck, { description: 'ordered by id' }),
  limits: Type.Object({ most: Type.Integer(), timeout: Type.Integer() }),
});

export type OwnChecks = Static<typeof OwnChecks>;

/** An own check as a body says it. Spaces around its texts and empty texts mean nothing. */
export function ownCheckIn(id: string, body: Omit<NewOwnCheckBody, 'id'>): OwnCheck {
  const { title, engine, database, sql, unit, operator, warning, critical, remediation } = body;
  const { every, timeout, tags } = body;
  return {
    id: id.trim(),
    title: title.trim(),
    engine,
    database: database?.trim() || null,
    sql: sql.trim(),
    unit,
    operator,
    warning,
    critical,
    remediation: remediation.replaceAll('\r\n', '\n').trim(),
    every,
    timeout,
    tags: tags.map((tag) => tag.trim()).filter((tag) => tag !== ''),
  };
}
