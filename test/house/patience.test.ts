import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallExpression, type Expression, parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';

const ROOT = join(import.meta.dirname, '../..');
const PLACES = ['{src,console/src}/**/*{.test,-fixture}.{ts,tsx}', 'client/test/**/*.ts', 'test/**/*.ts'];
const HELPER = join('test', 'support', 'wait-for.ts');

/** `expect.poll` or `waitFor`; null for the call of another function. */
function waitOf(callee: Expression): string | null {
  if (callee.type === 'Identifier') return callee.name === 'waitFor' ? callee.name : null;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return null;
  if (callee.object.type !== 'Identifier') return null;
  const name = `${callee.object.name}.${callee.property.name}`;
  return ['expect.poll', 'vi.waitFor', 'vi.waitUntil'].includes(name) ? name : null;
}

/** The limit that the options of a call set, in milliseconds; null for none, or one that is no literal. */
function limitOf({ arguments: [, options] }: CallExpression): number | null {
  if (options?.type === 'Literal') return typeof options.value === 'number' ? options.value : null;
  if (options?.type !== 'ObjectExpression') return null;
  for (const property of options.properties) {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') continue;
    const { key, value } = property;
    if (key.name === 'timeout' && value.type === 'Literal') return Number(value.value);
  }
  return null;
}

function shortWaits(path: string, text: string): string[] {
  if (!/\bvi\.wait|timeout/.test(text)) return []; // most files, and parsing takes long
  const found: string[] = [];
  const visit = (call: CallExpression) => {
    const wait = waitOf(call.callee);
    const limit = limitOf(call);
    const isShort = wait?.startsWith('vi.') || (limit !== null && limit < PATIENCE_MS);
    if (wait !== null && isShort) found.push(`${path}:${text.slice(0, call.start).split('\n').length}`);
  };
  new Visitor({ CallExpression: visit }).visit(parseSync(path, text).program);
  return found;
}

test('no test gives up what must happen sooner than the slowest machine needs', () => {
  const paths = globSync(PLACES, { cwd: ROOT, exclude: ['**/node_modules/**'] }).filter(
    (path) => path !== HELPER,
  );
  const short = paths.flatMap((path) => shortWaits(path, readFileSync(join(ROOT, path), 'utf8')));
  expect(short, 'use expect.poll or waitFor of test/support/wait-for.ts, without a limit').toEqual([]);
});

test.each([
  'await vi.waitFor(() => expect(found()).toBe(1));',
  'await vi.waitUntil(found);',
  'await expect.poll(found, { interval: 20, timeout: 5_000 }).toBe(1);',
  'await waitFor(found, { timeout: 5_000 });',
])('%s is too short', (text) => {
  expect(shortWaits('a.ts', text)).toEqual(['a.ts:1']);
});
