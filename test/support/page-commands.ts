import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A command line of dbvitals in a page. */
export interface PageCommand {
  /** The page's path, such as `docs/operate/backup.md`. */
  page: string;
  line: number;
  /** What follows `dbvitals`, without comments, redirections and other commands. */
  words: string[];
  /** Settings before the command. */
  settings: Record<string, string>;
  /** Whether the page shows it as a block to copy, and not within a sentence. */
  isBlock: boolean;
  /** The lines that the page shows as its output. */
  output: string[];
}

// Decisions and changes describe what was.
const HISTORY = /^docs\/decisions\//;
const FILES = /\.(?:md|ya?ml|service|timer|conf|json)$/;

/** The paths of the pages and files that tell users what to type. */
export function pagePaths(): string[] {
  const under = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && FILES.test(entry.name))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
  const top = ['README.md', 'SECURITY.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'client/README.md'];
  return [...top, ...under('docs'), ...under('deploy')].filter((path) => !HISTORY.test(path)).toSorted();
}

function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

const CALL =
  /^(?<settings>(?:[A-Z_]+=\S+\s+)*)(?:npm run (?:-s )?dbvitals --|docker exec (?:--\S+ )*\S+ dbvitals|dbvitals)\s+(?<rest>\S.*)$/;

/** Splits words as a shell does. */
export function splitWords(text: string): string[] {
  const words = text.matchAll(/(?:"[^"]*"|'[^']*'|\\.|[^\s"'])+/g);
  return [...words].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'|\\(.)/g, '$1$2$3'));
}

/** A command line without its comment and what it is joined with; null if it calls something else. */
function parseCall(text: string): Pick<PageCommand, 'words' | 'settings'> | null {
  const bare = text.replace(/\s+#\s.*$/, '').trim();
  // Quotes hold no separator in these pages but those of patterns.
  const parts = bare.split(/\s(?:\||&&|>)\s|;\s/);
  const at = parts.findIndex((part) => CALL.test(part.trim()));
  const { settings = '', rest = '' } = CALL.exec(parts[at]?.trim() ?? '')?.groups ?? {};
  if (rest === '') return null;
  return {
    words: splitWords(rest),
    settings: Object.fromEntries(splitWords(settings).map((pair) => pair.split(/=(.*)/).slice(0, 2))),
  };
}

/** The command lines of a page: blocks to copy, and code within sentences. */
export function commandsIn(page: string, text = readPage(page)): PageCommand[] {
  const found: PageCommand[] = [];
  const lines = text.replaceAll('\\\n', '  ').split('\n');
  let fence: string | null = null;
  for (const [at, line] of lines.entries()) {
    const [, language] = /^\s*```(\w*)/.exec(line) ?? [];
    if (language !== undefined) {
      fence = fence === null ? language : null;
      continue;
    }
    const isBlock = fence === 'sh' || fence === '' || (fence === null && /^(?: {4}|\t)/.test(line));
    const call = isBlock ? parseCall(line) : null;
    if (call) {
      found.push({ page, line: at + 1, ...call, isBlock: true, output: outputBelow(lines, at) });
      continue;
    }
    if (fence !== null) continue;
    for (const [, code = ''] of line.matchAll(/`([^`]+)`/g)) {
      const inline = parseCall(code);
      if (inline) found.push({ page, line: at + 1, ...inline, isBlock: false, output: [] });
    }
  }
  return found;
}

/** The indented block right below a command that ends its own block. */
function outputBelow(lines: readonly string[], at: number): string[] {
  let next = at + 1;
  if (lines[next]?.startsWith('```')) next += 1;
  if (lines[next] !== '') return [];
  while (lines[next] === '') next += 1;
  const shown: string[] = [];
  for (; /^ {4}/.test(lines[next] ?? ''); next++) shown.push((lines[next] ?? '').slice(4));
  return shown.some((line) => parseCall(line) !== null || line.startsWith('export ')) ? [] : shown;
}

/** A printed line without what differs at each run: ids, times, sizes, versions and keys. */
function shape(line: string): string {
  return line
    .replace(/[0-9a-f]{64}|[0-9a-f]{4}…[0-9a-f]{4}/g, 'KEY')
    .replace(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?/g, 'TIME')
    .replace(/\d{4}_\w+/g, 'MIGRATION')
    .replace(/\+[0-9a-f]{12}(?:\.[0-9a-f]{8})?/g, '+BUILD')
    .replace(/\d[\d,.]*\d|\d/g, '0')
    .replace(/\b[KMG]i?B\b/g, 'B')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The lines that a page shows as output and that were not printed, but for what differs at each run. */
export function linesNotPrinted(shown: readonly string[], printed: string): string[] {
  const lines = new Set(printed.split('\n').map(shape));
  return shown.filter((line) => !lines.has(shape(line)));
}
