import { expect, test } from 'vitest';
import { AccountTurns } from './account-turns.ts';

/** Reads that end when they are told to. */
function reads(share: AccountTurns) {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (accountId: number, name: string) =>
    share.run(accountId, () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const end = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { started, ask, end };
}

test('accounts take turns, however many reads one of them has waiting', async () => {
  const { started, ask, end } = reads(new AccountTurns({ all: 2, ofAccount: 2 }));
  const greedy = ['g1', 'g2', 'g3', 'g4', 'g5'].map((name) => ask(1, name));
  const others = [ask(2, 'a1'), ask(2, 'a2'), ask(3, 'b1')];
  for (let n = 0; n < 8; n += 1) await end();
  await Promise.all([...greedy, ...others]);
  expect(started).toEqual(['g1', 'g2', 'g3', 'a1', 'b1', 'g4', 'a2', 'g5']);
});

test('an account with too many waiting reads gets 429, and another one still gets its turn', async () => {
  const { started, ask, end } = reads(new AccountTurns({ all: 1, ofAccount: 1 }));
  const greedy = Array.from({ length: 60 }, (_, n) => ask(1, `g${n}`));
  const other = ask(2, 'a');
  const refused = (await Promise.allSettled(greedy.slice(41))).map(({ status }) => status);
  expect(refused).toEqual(Array(19).fill('rejected'));
  await end();
  await end();
  await end();
  await other;
  expect(started.slice(0, 3)).toEqual(['g0', 'g1', 'a']);
  for (let n = 0; n < 60; n += 1) await end();
  await Promise.all(greedy.slice(0, 41));
});

test('a read that waited too long gets 429, and the place goes to the next account', async () => {
  let now = 0;
  const { started, ask, end } = reads(new AccountTurns({ all: 1, ofAccount: 1 }, () => now));
  const first = ask(1, 'g0');
  const late = expect(ask(1, 'g1')).rejects.toThrow('more requests than its share');
  now = 6_000;
  const other = ask(2, 'a');
  await end();
  await late;
  await end();
  await Promise.all([first, other]);
  expect(started).toEqual(['g0', 'a']);
});

test('a failed read frees its place', async () => {
  const share = new AccountTurns({ all: 1, ofAccount: 1 });
  await expect(share.run(1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await share.run(2, async () => 'read')).toBe('read');
});

test('an account that may have one place leaves the other ones, and takes no turn of its own while it has it', async () => {
  const { started, ask, end } = reads(new AccountTurns({ all: 2, ofAccount: 1 }));
  const greedy = ['g1', 'g2', 'g3'].map((name) => ask(1, name));
  const others = [ask(2, 'a1'), ask(3, 'b1')];
  expect(started).toEqual(['g1', 'a1']);
  await end(); // g1
  expect(started).toEqual(['g1', 'a1', 'g2']);
  await end(); // a1: the one place of account 1 is taken
  expect(started).toEqual(['g1', 'a1', 'g2', 'b1']);
  for (let n = 0; n < 3; n += 1) await end();
  await Promise.all([...greedy, ...others]);
  expect(started).toHaveLength(5);
});

test('an account that uses a connection for long gets no second place until it has paid, and another one starts at once', async () => {
  let now = 0;
  const { started, ask, end } = reads(new AccountTurns({ all: 2, ofAccount: 2 }, () => now));
  const asked = [ask(1, 'g1')];
  now = 1_000; // while it still runs
  asked.push(ask(1, 'g2'), ask(2, 'a1'));
  expect(started).toEqual(['g1', 'a1']);
  await end();
  await end();
  expect(started).toEqual(['g1', 'a1', 'g2']);
  asked.push(ask(1, 'g3'));
  expect(started).toHaveLength(3);
  await end();
  await end();
  now = 5_000; // a quarter of the time pays
  asked.push(ask(1, 'g4'), ask(1, 'g5'));
  expect(started.slice(-2)).toEqual(['g4', 'g5']);
  await end();
  await end();
  await Promise.all(asked);
});
