import { expect, test } from 'vitest';
import { Rejection } from '../platform/rejection.ts';
import { Budget } from './budget.ts';

const USUAL = { cost: 1, isStream: false };

/** Sends a number of requests; returns how many were admitted, and when the last rejection says to retry. */
function ask(budget: Budget, token: string, accountId: number, count: number, of = USUAL) {
  let letIn = 0;
  let retryAfter: number | null = null;
  for (let asked = 0; asked < count; asked += 1) {
    try {
      budget.requireLeft(token);
      budget.enter(token, accountId, of).leave();
      letIn += 1;
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      ({ retryAfter } = error);
    }
  }
  return { letIn, retryAfter };
}

test('a session has 600 requests a minute, which come back over the minute; another has its own', () => {
  let now = 0;
  const budget = new Budget(() => now);
  expect(ask(budget, 'a', 1, 700)).toEqual({ letIn: 600, retryAfter: 1 });
  expect(ask(budget, 'b', 1, 10)).toEqual({ letIn: 10, retryAfter: null });
  now = 30_000;
  expect(ask(budget, 'a', 1, 700)).toEqual({ letIn: 300, retryAfter: 1 });
  now = 600_000;
  expect(ask(budget, 'a', 1, 700).letIn).toBe(600);
});

test('all sessions of an account share 3,000 a minute, and those of another wait for none of it', () => {
  const budget = new Budget(() => 0);
  let letIn = 0;
  for (let session = 0; session < 10; session += 1) letIn += ask(budget, `a${session}`, 1, 400).letIn;
  expect(letIn).toBe(3_000);
  expect(ask(budget, 'b', 2, 400).letIn).toBe(400);
});

test('what costs more is paid for, and so is a large answer', () => {
  const budget = new Budget(() => 0);
  expect(ask(budget, 'a', 1, 40, { cost: 20, isStream: false }).letIn).toBe(30);
  const visit = budget.enter('b', 1, USUAL);
  visit.charge(599 * 64 * 1024);
  visit.leave();
  expect(ask(budget, 'b', 1, 1)).toEqual({ letIn: 0, retryAfter: 1 });
  const slow = budget.enter('c', 2, USUAL);
  slow.chargeTime(99);
  expect(ask(budget, 'c', 2, 1).letIn).toBe(1);
  slow.chargeTime(3_600_000);
  expect(ask(budget, 'c', 2, 1)).toEqual({ letIn: 0, retryAfter: 60 });
});

test('20 requests and 6 streams of a session are under way at once; one that ends twice gives one place back', () => {
  const budget = new Budget(() => 0);
  for (const [isStream, most] of [
    [false, 20],
    [true, 6],
  ] as const) {
    const visits = Array.from({ length: most }, () => budget.enter('a', 1, { cost: 1, isStream }));
    const enter = () => budget.enter('a', 1, { cost: 1, isStream });
    expect(enter).toThrow('Too many requests. Wait a second, then try again.');
    visits[0]?.leave();
    visits[0]?.leave();
    enter();
    expect(enter).toThrow();
  }
});
