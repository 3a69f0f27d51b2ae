import { expect, test } from 'vitest';
import { type WaitNode, waitNodes } from './tree-nodes.ts';

const wait = (pid: number, ...blockers: number[]) => ({
  pid,
  blockers,
  seconds: 3,
  lock: 'transactionid',
  relation: null,
  session: null,
});

/** `[pid, …those behind it]`. */
type Shape = [number, ...Shape[]];
const shape = ({ wait: { pid }, behind }: WaitNode): Shape => [pid, ...behind.map(shape)];

test('a session stands behind the one that it waits for, which may itself wait', () => {
  const waits = [wait(2, 1), wait(3, 2), wait(4, 9, 3), wait(5, 1)];
  expect(waitNodes({ waits }).map(shape)).toEqual([[2, [3, [4]]], [5]]);
});

test('a session whose blocker was left out, or that waits for a circle, is shown once', () => {
  const waits = [wait(2, 77), wait(3, 4), wait(4, 3), wait(5, 4), wait(6, 6)];
  expect(waitNodes({ waits }).map(shape)).toEqual([[2], [3], [4, [5]], [6]]);
});
