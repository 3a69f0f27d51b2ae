import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../src/checks/check.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/design/real-schemas.md');
const HEAD = '| schema | finding | object | judgement |\n| --- | --- | --- | --- |\n';

/** The judgement of a finding that nobody has judged yet. */
export const NOT_JUDGED = 'not judged';

/** A finding on a schema, as the document lists it. */
export interface JudgedFinding {
  /** The schema's name, the check's id and the object, as cells. */
  finding: string;
  judgement: string;
}

/** The findings that the document lists below a server's heading, such as `PostgreSQL 17`. */
export function judgedFindings(server: string): JudgedFinding[] {
  const [, table = ''] = partsOf(readFileSync(DOCUMENT, 'utf8'), server);
  return table
    .split('\n')
    .slice(2)
    .filter((line) => line.startsWith('| '))
    .map((line) => {
      const [, schema, check, object, judgement = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      return { finding: `${schema} | ${check} | ${object}`, judgement };
    });
}

/** A finding as the first cells of its row. */
export function cellsOf({ check_id, database, object }: Finding, schema = database): string {
  return `${schema} | ${check_id} | ${(object ?? '').replaceAll('|', String.raw`\|`)}`;
}

/** Writes a server's table with these findings. Their judgements stay; new findings are not judged. */
export function writeFindings(server: string, findings: readonly string[]): void {
  const document = readFileSync(DOCUMENT, 'utf8');
  const [before, , after] = partsOf(document, server);
  const known = new Map(judgedFindings(server).map(({ finding, judgement }) => [finding, judgement]));
  const rows = findings.map((finding) => `| ${finding} | ${known.get(finding) ?? NOT_JUDGED} |\n`);
  writeFileSync(DOCUMENT, [before, HEAD, ...rows, after].join(''));
}

/** The document before a server's table, the table, and what follows. */
function partsOf(document: string, server: string): [string, string, string] {
  const heading = document.indexOf(`## ${server}\n`);
  const start = document.indexOf('| schema |', heading);
  if (heading < 0 || start < 0) throw new Error(`${DOCUMENT} has no table of ${server}.`);
  const end = document.indexOf('\n\n', start) + 1 || document.length;
  return [document.slice(0, start), document.slice(start, end), document.slice(end)];
}
