import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// A statement ends at a semicolon outside of names, literals and notes.
const STATEMENT = /(?:`(?:[^`]|``)*`|"(?:[^"]|"")*"|'(?:[^']|'')*'|--.*|[^;`"'-]|-(?!-))+;/g;

// One that names something, or ends as a statement does; not a mention of a kind of statement, nor one with a gap.
const INLINE =
  /(?<!`)`((?:[A-Z]{2,} [^`]*;)|(?:(?:ALTER|CHANGE|CREATE|DROP|GRANT|RESET|REVOKE|SET (?:GLOBAL|PERSIST)|SHOW|UPDATE) (?![^`]*…)[^`]*[a-z'][^`]*))`/g;

/** What a check's page tells people to paste, in the order of the page. */
export interface Pasteable {
  /** SQL, character by character. */
  statements: string[];
  /** Lines for a shell, an option file or psql. */
  others: string[];
}

/**
 * What the page of a check shows in "How to fix": its blocks of code, and statements within its text.
 */
export function pasteableOn(check_id: string): Pasteable {
  const page = readFileSync(join(import.meta.dirname, '../../docs', 'checks', `${check_id}.md`), 'utf8');
  const [, fix = ''] = /^## How to fix$(.*?)^## /ms.exec(page) ?? [];
  const blocks = [...fix.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block.replace(/^ {4}/gm, ''));
  const inline = [...fix.matchAll(INLINE)].map(([, text = '']) => text);
  const isSql = (line: string) => /^(?:[A-Z]{2,}\b| )/.test(line);
  return {
    statements: [...blocks.flatMap(ofSql), ...inline],
    others: blocks.flatMap((block) => block.split('\n').filter((line) => line !== '' && !isSql(line))),
  };

  // Statements in one line are pasted together.
  function ofSql(block: string): string[] {
    const sql = block.split('\n').filter(isSql).join('\n');
    const joined: string[] = [];
    for (const statement of sql.match(STATEMENT) ?? []) {
      if (joined.length > 0 && !/^\s*(?:--.*)?\n/.test(statement))
        joined.push((joined.pop() ?? '') + statement);
      else joined.push(statement.replace(/^\s*(?:--.*\n)?/, ''));
    }
    return joined;
  }
}
