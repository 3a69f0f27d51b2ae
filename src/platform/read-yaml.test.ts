import { expect, test } from 'vitest';
import * as yaml from 'yaml';
import { LineCounter } from 'yaml';
import { readYaml, yamlValue } from './read-yaml.ts';

const SIZE = 500_000;
const fill = (part: string) => part.repeat(Math.floor(SIZE / part.length));

/** Reads a text within ten seconds of the processor: the parser alone takes minutes for most of these. */
function codeOf(text: string): string | null {
  const began = process.cpuUsage();
  const read = readYaml(text, yaml);
  expect(process.cpuUsage(began).user / 1e6).toBeLessThan(10);
  return 'problem' in read ? read.problem.code : null;
}

test.each(['[', '{', '{a: ', '[{', '- ', '? ', '- [', '{? ', '- - ? ', '[{a: [', '&a ', '!a '])(
  '500 kB of %j are nested too deep, and are not parsed',
  (part) => {
    expect(codeOf(fill(part))).toBe('TOO_DEEP');
    expect(codeOf(`accounts:\n  - name: x\n    more: ${fill(part)}`)).toBe('TOO_DEEP');
  },
);

test('mappings and lists that are nested by indentation count', () => {
  const lines = (line: string) => Array.from({ length: 900 }, (_, n) => `${' '.repeat(n)}${line}`).join('\n');
  expect(codeOf(lines('a:'))).toBe('TOO_DEEP');
  expect(codeOf(lines('- a:'))).toBe('TOO_DEEP');
});

test('other texts of 500 kB take no longer', () => {
  const keys = Array.from({ length: 30_000 }, (_, n) => `k${n}: 1`);
  expect(codeOf(keys.join('\n'))).toBeNull();
  expect(codeOf([...keys, 'k7: 2'].join('\n'))).toBe('DUPLICATE_KEY');
  expect(codeOf(`{${keys.join(', ')}}`)).toBeNull();
  expect(codeOf(`a: &x 1\nb: [${fill('*x, ')}]`)).toBe('TOO_MANY_ALIASES');
  expect(codeOf(`a: &x {y: 1}\nb:\n  <<: [${fill('*x, ')}]`)).toBe('TOO_MANY_ALIASES');
  expect(codeOf(`a: |\n${fill(' [[[[\n')}`)).toBeNull();
  expect(codeOf(`a: "${fill('[{')}"\nb: '${fill('[{')}' # ${fill('[{')}`)).toBeNull();
  expect(codeOf('x'.repeat(5 * 1024 * 1024))).toBe('TOO_LARGE');
});

test('many levels that belong together are read, and where there are too many is said', () => {
  const deep = (levels: number) => `a:\n  b: ${'['.repeat(levels)}${']'.repeat(levels)}`;
  expect(codeOf(deep(50))).toBeNull();
  const lineCounter = new LineCounter();
  const read = readYaml(deep(90), yaml, { lineCounter });
  if (!('problem' in read)) throw new Error('it was read');
  expect(lineCounter.linePos(read.problem.offset)).toMatchObject({ line: 2 });
});

test('aliases that grow into each other have no value', () => {
  const line = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(of).join(', ')}]\n`;
  const names = [...'abcdefghij'];
  const read = readYaml(
    names.map((name, n) => line(name, n === 0 ? 'x' : `*${names[n - 1]}`)).join(''),
    yaml,
  );
  if ('problem' in read) throw new Error(read.problem.message);
  expect(yamlValue(read.document)).toBeNull();
});

test.each([
  ['a: 1\nb: {c: 2}', { a: 1, b: { c: 2 } }],
  ['{"a": [1, null]}', { a: [1, null] }],
  ['', null],
])('%j is read', (text, value) => {
  const read = readYaml(text, yaml);
  expect('document' in read && yamlValue(read.document)).toEqual({ value });
});
