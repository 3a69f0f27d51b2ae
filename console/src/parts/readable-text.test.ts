import { expect, test } from 'vitest';
import { readableLine } from './readable-text.ts';
import { local } from './time.tsx';

test('the measured text of a finding reads as a sentence', () => {
  expect(readableLine('the IO thread is stopped.')).toBe('The IO thread is stopped.');
});

test('a silenced finding has neither words nor times of the API', () => {
  const at = '2026-12-26T22:54:08.974Z';
  expect(readableLine(`Silenced until ${at} (accepted_risk: known): t is large`)).toBe(
    `Silenced until ${local(at)} (accepted risk: known): t is large`,
  );
  expect(readableLine('Silenced (wont_fix: see accepted_risk): t')).toBe(
    'Silenced (won’t fix: see accepted_risk): t',
  );
});
