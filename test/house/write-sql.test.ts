import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const SRC = new URL('../../src/', import.meta.url).pathname;

/** The folders that parse input, call a verb and format the result. */
const WAYS_IN = ['cli', 'console-api', 'service', 'api'];
const WRITE = /\binsert into [a-z_]+|\bdelete from [a-z_]+|\bupdate [a-z_]+(?: [a-z])?\s+set\b/;

function writesIn(folder: string): string[] {
  return readdirSync(`${SRC}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .filter((path) => WRITE.test(readFileSync(`${SRC}${path}`, 'utf8')));
}

test('only domain folders contain SQL that writes', () => {
  // Sample data writes a history directly, because no verb can. The gate's statement records each request.
  const allowed = /^(?:cli\/sample-data|api\/gate)\//;
  expect(WAYS_IN.flatMap(writesIn).filter((path) => !allowed.test(path))).toEqual([]);
});

test('SQL that writes is detected', () => {
  expect(writesIn('accounts/members')).toEqual(
    expect.arrayContaining([
      'accounts/members/add-member.ts',
      'accounts/members/change-member.ts',
      'accounts/members/remove-member.ts',
    ]),
  );
});
