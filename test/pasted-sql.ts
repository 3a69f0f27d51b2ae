import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'least-privilege.md'), 'utf8');

/** The part of docs/least-privilege.md under a heading that begins so. */
function partOf(heading: string): string {
  const part = page.split(/^## /m).find((text) => text.startsWith(heading));
  if (part === undefined) throw new Error(`docs/least-privilege.md has no part ${heading}.`);
  return part;
}

/** The statements of each block of SQL there, in its order. */
export function pastedSql(heading: string): string[][] {
  return [...partOf(heading).matchAll(/^```sql\n([^`]*)^```$/gm)].map(([, block = '']) =>
    block
      .split(/;\n/)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== ''),
  );
}

/** What it says is skipped without a privilege: the first cell of each row, and the ids of checks in the second. */
export function skippedWithout(heading: string): Map<string, string[]> {
  const rows = [...partOf(heading).matchAll(/^\| (?!without|---)([^|]+) \| ([^|]+) \|$/gm)];
  return new Map(
    rows.map(([, privilege = '', checks = '']) => [privilege, checks.match(/\b(?:PG|MY)_\w+/g) ?? []]),
  );
}
