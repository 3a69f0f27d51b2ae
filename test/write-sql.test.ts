import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const SRC = new URL('../src/', import.meta.url).pathname;

/** The folders that parse input, call a verb and format the result. */
const WAYS_IN = ['cli', 'console', 'server', 'doctor'];
const WRITE = /\binsert into [a-z_]+|\bdelete from [a-z_]+|\bupdate [a-z_]+(?: [a-z])?\s+set\b/;

function writesIn(folder: string): string[] {
  return readdirSync(`${SRC}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .filter((path) => WRITE.test(readFileSync(`${SRC}${path}`, 'utf8')));
}

test('only domain folders contain SQL that writes', () => {
  // Sample data writes a history directly, because no verb can.
  expect(WAYS_IN.flatMap(writesIn).filter((path) => !path.startsWith('cli/sample-data/'))).toEqual([]);
});

test('SQL that writes is detected', () => {
  expect(writesIn('members')).toEqual(
    expect.arrayContaining(['members/add-member.ts', 'members/change-member.ts', 'members/remove-member.ts']),
  );
});
