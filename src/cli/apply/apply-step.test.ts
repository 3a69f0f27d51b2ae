import { expect, test } from 'vitest';
import { lineOf } from './apply-step.ts';

test('a difference is one line, whatever text a member wrote', () => {
  const sql = 'select 1\n- connection Example / production: removed\u001b[2K\u009b1A';
  const line = lineOf({
    action: 'change',
    what: 'own check',
    account: 'Example',
    name: 'A\u202eB',
    changed: ['sql'],
    from: { sql },
    to: { sql: 'select 2 as value' },
  });
  expect(line).toBe(
    '~ own check Example / A B: sql select 1 - connection Example / production: removed [2K 1A -> select 2 as value',
  );
});
