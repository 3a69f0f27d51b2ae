import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadlines } from './deadlines.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('each request that is not answered within two seconds expires once, and no other', () => {
  const waits = fc.array(fc.record({ pauseMs: fc.nat(900), answeredAfterMs: fc.nat(3_000) }), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(waits, (requests) => {
      const expired: number[] = [];
      const deadlines = new Deadlines<{ n: number; started: number; place: number }>(({ n }) => {
        expired.push(n);
      });
      const events: { at: number; run: () => void }[] = [];
      let at = 0;
      for (const [n, { pauseMs, answeredAfterMs }] of requests.entries()) {
        at += pauseMs;
        const pending = { n, started: performance.now() + at, place: -1 };
        events.push({ at, run: () => deadlines.add(pending) });
        events.push({ at: at + answeredAfterMs, run: () => deadlines.remove(pending) });
      }
      const start = performance.now();
      for (const event of events.toSorted((a, b) => a.at - b.at)) {
        vi.advanceTimersByTime(start + event.at - performance.now());
        event.run();
      }
      vi.advanceTimersByTime(3_000);
      const isLate = ({ answeredAfterMs }: { answeredAfterMs: number }) => answeredAfterMs >= 2_020;
      const mayBeLate = ({ answeredAfterMs }: { answeredAfterMs: number }) => answeredAfterMs >= 2_000;
      const counted = requests.map((_, n) => expired.filter((each) => each === n).length);
      for (const [n, request] of requests.entries()) {
        if (isLate(request)) expect(counted[n]).toBe(1);
        else if (!mayBeLate(request)) expect(counted[n]).toBe(0);
        else expect(counted[n]).toBeLessThanOrEqual(1);
      }
      expect(vi.getTimerCount()).toBe(0);
    }),
  );
});

test('a request that expires may be removed again', () => {
  const pending = { started: performance.now(), place: -1 };
  const deadlines = new Deadlines((each) => deadlines.remove(each));
  deadlines.add(pending);
  const later = { started: performance.now() + 1_000, place: -1 };
  deadlines.add(later);
  vi.advanceTimersByTime(2_100);
  expect(pending.place).toBe(-1);
  expect(later.place).toBe(0);
});
