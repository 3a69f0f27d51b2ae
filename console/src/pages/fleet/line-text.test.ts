import { expect, test } from 'vitest';
import { lineText } from './line-text.ts';

test('a line has its latest, lowest and highest value as text', () => {
  expect(lineText('Cache hit ratio', [0.5, 0.25, 0.75], 'ratio')).toBe(
    'Cache hit ratio: 75 %, between 25 % and 75 %',
  );
  expect(lineText('Connections', [3, 3], 'count')).toBe('Connections: 3');
});
