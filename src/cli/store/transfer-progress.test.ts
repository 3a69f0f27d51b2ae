import { expect, test } from 'vitest';
import { transferProgress } from './transfer-progress.ts';

function show(isTTY: boolean): string {
  const lines: string[] = [];
  let now = 1_000;
  const output = { isTTY, write: (text: string) => lines.push(text) > 0 };
  const progress = transferProgress(output, () => now);
  progress.step('backup', 1_234_567, null);
  progress.step('backup', 2_000_000, null); // too soon
  now += 100;
  progress.step('restoring', 6_000_000, 12_000_000);
  progress.end();
  return lines.join('').replaceAll('\r\u001b[2K', '\n');
}

test('progress is one line of a terminal, which is removed at the end', () => {
  expect(show(true)).toBe('\nbackup: 1.2 MB …\nrestoring: 50 % of 12.0 MB …\n');
});

test('nothing is written where standard error is no terminal', () => {
  expect(show(false)).toBe('');
});
