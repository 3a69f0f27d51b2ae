import { expect, test } from 'vitest';
import { KeptPlans } from './kept-plans.ts';

/** A session that answers with the process of a server, and knows the statements that were prepared in it. */
function session(processOfServer: number) {
  const sent: string[] = [];
  const prepared = new Set<string>();
  let failing: string | null = null;
  const read = (statements: string) => {
    sent.push(statements);
    const [, name] = /prepare (\w+) as/.exec(statements) ?? [];
    if (name !== undefined) prepared.add(name);
    const [, executed] = /execute (\w+)/.exec(statements) ?? [];
    const code = failing ?? (executed !== undefined && !prepared.has(executed) ? '26000' : null);
    if (code !== null) return Promise.reject(Object.assign(new Error('refused'), { code }));
    return Promise.resolve([{ pid: processOfServer }]);
  };
  const run = (statement: string) => {
    sent.push(statement);
    prepared.delete(statement.replace('deallocate ', ''));
    return Promise.resolve();
  };
  const fail = (code: string | null) => {
    failing = code;
  };
  return { read, run, sent, prepared, fail };
}

test('a statement is prepared once, and again under another name if the first try failed', async () => {
  const { read, run, sent, prepared, fail } = session(7);
  const plans = new KeptPlans(read, run, 7);
  await expect(plans.read('', 'select 0').then(() => plans.read('', 'select 0'))).resolves.toHaveLength(1);
  fail('55P03');
  await expect(plans.read('', 'select 1')).rejects.toThrow('refused');
  expect([...prepared]).toEqual(['dbvitals_1']);
  fail(null);
  sent.length = 0;
  for (let n = 0; n < 2; n++) await plans.read('set a;', 'select 1');
  expect(sent).toEqual([
    'set a;prepare dbvitals_3 as select 1;\nexecute dbvitals_3',
    'set a;execute dbvitals_3',
  ]);
});

test('nothing is prepared where the login told another process, nor where a statement was forgotten', async () => {
  for (const told of [8, undefined]) {
    const { read, run, sent } = session(7);
    const plans = new KeptPlans(read, run, told);
    for (let n = 0; n < 2; n++) await plans.read('', 'select 1');
    expect(sent.slice(1)).toEqual(['select 1', 'select 1']);
  }
  const { read, run, sent, prepared } = session(7);
  const plans = new KeptPlans(read, run, 7);
  await plans.read('', 'select 1');
  prepared.clear();
  for (let n = 0; n < 2; n++) await plans.read('', 'select 1');
  expect(sent.slice(-3)).toEqual(['execute dbvitals_1', 'select 1', 'select 1']);
});
