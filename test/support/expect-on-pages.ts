import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

// A quoted name, a literal, or a note; or a keyword, which is written in capitals.
const TOKENS = /`(?:[^`]|``)*`|"(?:[^"]|"")*"|'(?:[^']|'')*'|--.*|\b[A-Z][A-Z_]+\b/g;
const STATEMENT = /(?:`(?:[^`]|``)*`|"(?:[^"]|"")*"|'(?:[^']|'')*'|--.*|[^;`"'-]|-(?!-))+;/g;

/** Whether a remediation begins with a statement; otherwise it is a sentence. */
const isSql = (remediation: string) => /^[A-Z]{2,} /.test(remediation);

/** The keywords of a statement, without the names: `ALTER TABLE DROP CONSTRAINT`. */
const shapeOf = (statement: string) =>
  (statement.match(TOKENS) ?? []).filter((token) => /^[A-Z]/.test(token)).join(' ');

/** The statements that a check's page shows in "How to fix", each by its shape. */
function shownBy(check_id: string): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs', 'checks', `${check_id}.md`), 'utf8');
  const fix = /^## How to fix$(.*?)^## /ms.exec(page)?.[1] ?? '';
  const code = [...fix.matchAll(/(?:^ {4}.*\n)+/gm)].flatMap(([block]) => block.match(STATEMENT) ?? []);
  const inline = [...fix.matchAll(/`([A-Z][^`]*)`/g)].map(([, text = '']) => text);
  return [...code, ...inline].map(shapeOf);
}

/**
 * Expects that each check's page shows the first statement of a remediation that the check really printed.
 *
 * @param printed Check ids and their remediations.
 */
export function expectOnPages(printed: readonly (readonly [check_id: string, remediation: string])[]): void {
  const stale = [...Map.groupBy(printed, ([check_id]) => check_id)].filter(([check_id, all]) => {
    const shown = new Set(shownBy(check_id));
    const statements = all
      .filter(([, text]) => isSql(text))
      .map(([, text]) => text.match(STATEMENT)?.[0] ?? text);
    return statements.length > 0 && !statements.some((statement) => shown.has(shapeOf(statement)));
  });
  expect(stale).toEqual([]);
}
