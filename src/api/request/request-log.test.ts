import { expect, test } from 'vitest';
import { RequestLog } from './request-log.ts';

/** A log whose lines are kept. */
function kept() {
  const lines: Record<string, unknown>[] = [];
  const log = new RequestLog({
    info: (line: object) => void lines.push({ ...line }),
    warn: (line: object, message?: string) => void lines.push({ ...line, message }),
    isLevelEnabled: () => true,
  } as ConstructorParameters<typeof RequestLog>[0]);
  return { lines, log };
}

const line = (status: number) => ({ request_id: 'r', method: 'GET', path: '/session', status, ms: 1.234 });

test.each([
  // The status, whether it has a session, and whether all lines are written.
  [200, true, true],
  [400, true, true],
  [401, true, false],
  [403, true, false],
  [404, true, false],
  [429, true, false],
  [500, true, true],
  [200, false, false],
  [400, false, false],
  [401, false, false],
  [404, false, false],
  [503, false, true],
])('%i of the console, with a session: %s, all lines: %s', (status, isMember, all) => {
  const { lines, log } = kept();
  for (let n = 0; n < 1_000; n += 1) log.consoleAnswered(line(status), isMember);
  log.flush();
  expect(lines).toHaveLength(all ? 1_000 : 11);
  expect(lines[0]).toEqual({ ...line(status), ms: 1.23 });
  if (!all) expect(lines.at(-1)).toEqual({ status, left_out: 990 });
});

test('malformed requests and the console share the lines of a status', () => {
  const { lines, log } = kept();
  for (let n = 0; n < 8; n += 1) log.broken({ id: 'r', status: 400, address: '::ffff:192.0.2.7' });
  for (let n = 0; n < 8; n += 1) log.consoleAnswered(line(400), false);
  log.flush();
  expect(lines).toHaveLength(11);
  expect(lines.at(-1)).toEqual({ status: 400, left_out: 6 });
});

test('a failure that anyone can cause is written ten times a second, and then counted', () => {
  const { lines, log } = kept();
  for (let n = 0; n < 1_000; n += 1) log.failed({ n }, 'single sign-on failed');
  for (let n = 0; n < 10; n += 1) log.failed({ n }, 'something else');
  log.flush();
  expect(lines).toHaveLength(21);
  expect(lines.slice(0, 2)).toEqual([0, 1].map((n) => ({ n, message: 'single sign-on failed' })));
  expect(lines.at(-1)).toEqual({
    failure: 'single sign-on failed',
    left_out: 990,
    message: 'more failures than the log shows',
  });
});
