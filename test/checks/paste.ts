import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PASSWORD, type PostgresServer } from './postgres-server.ts';

// A statement in the note of steps: names and literals may contain semicolons.
const STATEMENT =
  /\b(?:ALTER|DROP|REINDEX|VACUUM|ROLLBACK PREPARED|SELECT pg_)(?:"(?:[^"]|"")*"|E?'(?:[^'\\]|''|\\.)*'|[^;"'])*;/g;

// A statement, or a note.
const EACH = /(?:"(?:[^"]|"")*"|E?'(?:[^'\\]|''|\\.)*'|--.*|[^;"'-]|-(?!-))+;?/gs;

/**
 * Pastes a remediation as the superuser, character by character: into `psql`, if `TEST_PSQL` names one. Rejects if a
 * statement fails.
 */
export async function paste(
  server: PostgresServer,
  remediation: string,
  database = server.database,
): Promise<string> {
  const psql = process.env['TEST_PSQL'];
  if (psql === undefined) return pasteByDriver(server, remediation, database);
  const { host, port } = server;
  const pasted = promisify(execFile)(
    psql,
    [
      '--no-psqlrc',
      '--quiet',
      '--set=ON_ERROR_STOP=1',
      '--file=-',
      `--dbname=${connection({ host, port, database })}`,
    ],
    { env: { ...process.env, PGPASSWORD: PASSWORD, PGCLIENTENCODING: 'UTF8' } },
  );
  pasted.child.stdin?.end(`${remediation}\n`);
  const { stdout } = await pasted;
  await server.settle();
  return stdout;
}

async function pasteByDriver(server: PostgresServer, remediation: string, database: string): Promise<string> {
  const client = await server.open('postgres', database);
  try {
    const shown: unknown[] = [];
    for (const statement of remediation.match(EACH) ?? []) shown.push((await client.query(statement)).rows);
    return JSON.stringify(shown);
  } finally {
    await client.end();
    await server.settle();
  }
}

function connection(parts: { host: string; port: number; database: string }): string {
  const quoted = (text: string) => `'${text.replace(/['\\]/g, String.raw`\$&`)}'`;
  const { host, port, database } = parts;
  return `host=${quoted(host)} port=${port} user=postgres dbname=${quoted(database)}`;
}

/** Pastes a remediation; then, if it is steps, each statement that its note says to run. */
export async function follow(server: PostgresServer, remediation: string, database?: string): Promise<void> {
  await paste(server, remediation, database);
  for (const statement of stepsOf(remediation)) await paste(server, statement, database);
}

/** The statements that the note of steps says to run. */
export function stepsOf(remediation: string): string[] {
  return isSteps(remediation) ? ((remediation.split(' -- ')[1] ?? '').match(STATEMENT) ?? []) : [];
}

/** Whether a remediation is steps: a statement that only reads, and a note. */
export function isSteps(remediation: string): boolean {
  return /^(?:SELECT|SHOW)\b.* -- /s.test(remediation);
}
