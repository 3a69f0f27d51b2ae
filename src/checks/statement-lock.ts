import { type Engine, type EngineFamily, familyOf } from '../vocabulary/engines.ts';

const NOTHING = 'Locks no table: reads and writes go on.';
const ONLINE =
  'Holds SHARE UPDATE EXCLUSIVE on the table: reads and writes go on, schema changes and other maintenance wait.';
const METADATA =
  'Waits for the metadata lock of the table at its start and end: later statements queue behind it meanwhile.';

// Worst first: of several statements that one counts. PostgreSQL's by "Table-Level Locks" of its manual and the
// pages of the statements (https://www.postgresql.org/docs/18/explicit-locking.html), MySQL's by "Online DDL Operations"
// (https://dev.mysql.com/doc/refman/8.4/en/innodb-online-ddl-operations.html).
const OF_POSTGRES: [RegExp, string][] = [
  [/^VACUUM \(FULL/, 'Holds ACCESS EXCLUSIVE while the table is rewritten: reads and writes wait.'],
  [
    /^ALTER TABLE .* (?:SET LOGGED|ADD COLUMN .* bigserial|ALTER COLUMN .* (?:SET DATA )?TYPE)\b/,
    'Holds ACCESS EXCLUSIVE while the table is rewritten: reads and writes wait.',
  ],
  [
    /^ALTER TABLE .* ADD PRIMARY KEY (?!USING INDEX)/,
    'Holds ACCESS EXCLUSIVE while the index is built: reads and writes wait. With a unique index that was built CONCURRENTLY before, it takes only a moment.',
  ],
  [
    /^ALTER TABLE .* (?:DROP CONSTRAINT|ADD PRIMARY KEY USING INDEX|REPLICA IDENTITY)\b/,
    'Holds ACCESS EXCLUSIVE on the table for a moment, and waits for transactions that use it.',
  ],
  [
    /^DROP INDEX (?!CONCURRENTLY)/,
    'Holds ACCESS EXCLUSIVE on the table for a moment, and waits for transactions that use it.',
  ],
  [
    /^REINDEX INDEX (?!CONCURRENTLY)/,
    'Holds SHARE on the table and ACCESS EXCLUSIVE on the index while it is built: writes wait, and reads that would use the index.',
  ],
  [
    /^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)/,
    'Holds SHARE on the table while the index is built: reads go on, writes wait.',
  ],
  [
    /^ALTER DOMAIN .* VALIDATE CONSTRAINT\b/,
    'Holds SHARE on the tables that use the domain while it reads them: reads go on, writes may wait.',
  ],
  [
    /^ALTER INDEX .* ATTACH PARTITION\b/,
    'Holds ACCESS EXCLUSIVE on the index of the partition for a moment, and waits for statements that use it.',
  ],
  [
    /^ALTER TABLE .* ENABLE TRIGGER\b/,
    'Holds SHARE ROW EXCLUSIVE on the table for a moment: reads go on, writes wait.',
  ],
  [
    /^ALTER SEQUENCE\b/,
    'Holds SHARE ROW EXCLUSIVE on the sequence for a moment: sessions that take a number from it wait.',
  ],
  [
    /^ALTER EXTENSION\b/,
    "Holds what the extension's update script takes: mostly its own objects, for a moment.",
  ],
  [
    /^(?:CREATE (?:UNIQUE )?|DROP |RE)INDEX (?:INDEX |DATABASE )?CONCURRENTLY\b/,
    `${ONLINE} It waits for transactions that use the table, and can't run inside one.`,
  ],
  [/^(?:VACUUM|ANALYZE)\b/, ONLINE],
  [/^ALTER (?:TABLE|MATERIALIZED VIEW) .* (?:VALIDATE CONSTRAINT|RESET|SET) ?\S/, ONLINE],
  [/^ROLLBACK PREPARED\b/, 'Locks nothing: it releases the locks of the prepared transaction.'],
  [/^SELECT .*pg_terminate_backend\(/, 'Locks nothing: it ends sessions, whose transactions roll back.'],
  [/^SELECT .*pg_cancel_backend\(/, 'Locks nothing: it cancels statements.'],
  [
    /^(?:SELECT|SHOW|EXPLAIN|CREATE EXTENSION|ALTER (?:SYSTEM|DATABASE|ROLE|ROUTINE|FUNCTION|PROCEDURE|SUBSCRIPTION|EVENT TRIGGER|COLLATION)|DROP DATABASE|GRANT|REVOKE)\b/,
    NOTHING,
  ],
];

const OF_MYSQL: [RegExp, string][] = [
  [
    /^ALTER TABLE .* CONVERT TO CHARACTER SET\b/,
    'Copies the table: reads go on, writes wait until it is done. pt-online-schema-change and gh-ost avoid that.',
  ],
  [
    /^ALTER TABLE .* ENGINE = InnoDB\b/,
    'Copies a table of another engine: reads go on, writes wait until it is done.',
  ],
  [
    /^ALTER TABLE .* ADD COLUMN .* AUTO_INCREMENT\b/,
    'Rewrites the table: reads go on, writes wait until it is done.',
  ],
  [
    /^ALTER TABLE .* (?:MODIFY|CHANGE)(?: COLUMN)?\b/,
    'Copies the table if the type changes: reads go on, writes wait until it is done.',
  ],
  [/^ALTER TABLE .* ADD PRIMARY KEY\b/, `Rewrites the table while reads and writes go on. ${METADATA}`],
  [/^(?:OPTIMIZE|ALTER) TABLE\b/, `Reads and writes go on. ${METADATA}`],
  [
    /^ALTER SEQUENCE\b/,
    'Holds the metadata lock of the sequence for a moment: sessions that take a number from it wait.',
  ],
  [/^(?:KILL|XA)\b/, 'Locks nothing: it ends a session or transaction that holds locks.'],
  [
    /^(?:SELECT|SHOW|SET|START|STOP|CHANGE|RESET (?:REPLICA|SLAVE)|REVOKE|GRANT|(?:ALTER|DROP) USER|EXECUTE IMMEDIATE CONCAT\('SET PASSWORD|ALTER INSTANCE|FLUSH|UPDATE performance_schema)\b/,
    NOTHING,
  ],
];

const LOCKS: Readonly<Record<EngineFamily, typeof OF_MYSQL>> = {
  postgres: OF_POSTGRES,
  mysql: OF_MYSQL,
  pgbouncer: [[/^(?:SHOW|RESUME|ENABLE|RELOAD)\b/, NOTHING]],
};

/**
 * What a remediation locks on its server, in a sentence or two: the gravest of its statements, with those that its notes
 * name. Null if it does not begin with a statement, or with one that is not known.
 */
export function statementLock(engine: Engine, remediation: string): string | null {
  const locks = LOCKS[familyOf(engine)];
  const gravity = (statement: string) => locks.findIndex(([form]) => form.test(statement));
  const { code, notes } = splitNotes(remediation);
  const known = code
    .split(/;\s*(?=[A-Z]|$)/)
    .map((statement) => statement.trim().replace(/^SET STATEMENT \w+ = \w+ FOR /, ''))
    .filter((statement) => statement !== '')
    .map(gravity);
  if (known.includes(-1)) return null;
  const noted = notes.flatMap((note) => statementsIn(note).map(gravity));
  const gravest = locks[Math.min(...known, ...noted.filter((place) => place >= 0))];
  return gravest?.[1] ?? null;
}

const NAME = /"(?:[^"]|"")*"|`(?:[^`]|``)*`/;
const LITERAL = /'(?:[^'\\]|\\[\s\S]|'')*'/;
// Of a statement that is put together, the first literal says what it does.
const CODE_PARTS = new RegExp(`${NAME.source}|(?<!IMMEDIATE CONCAT\\()${LITERAL.source}|-- (.*)$`, 'gm');
// An apostrophe after a letter is one of a note's words.
const NOTE_PARTS = new RegExp(`${NAME.source}|(?<!\\w)E?${LITERAL.source}`, 'g');

/** The statements of a remediation and its notes, both without names and literals, which may read like anything. */
function splitNotes(remediation: string): { code: string; notes: string[] } {
  const notes: string[] = [];
  const code = remediation.replace(CODE_PARTS, (_, note?: string) => {
    if (note === undefined) return '""';
    notes.push(note.replace(NOTE_PARTS, '""'));
    return '';
  });
  return { code, notes };
}

/** What may be a statement in a note: from each word in capitals to the next semicolon. */
function statementsIn(note: string): string[] {
  return [...note.matchAll(/\b[A-Z]{2,}\b/g)].map(({ index }) => note.slice(index).split(';')[0] ?? '');
}
