import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(import.meta.dirname, '../../docs/operate/install.md'), 'utf8');

/** The fenced blocks of docs/operate/install.md between a heading and the next, whatever its level; throws unless there are `count`. */
export function blocks(heading: string, count: number, language = 'sh'): string[] {
  const [, below = ''] = page.split(`\n${heading}\n`);
  const [text = ''] = below.split(/^#+ /m);
  const found = [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))];
  if (found.length === count) return found.map(([, block = '']) => block);
  throw new Error(
    `Below "${heading}" are ${found.length} blocks of ${language}, not ${count}: the test must run them all.`,
  );
}
