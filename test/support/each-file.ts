import fc from 'fast-check';
import { afterAll, vi } from 'vitest';

// A failed property is tried again with thousands of smaller values. That ends before the test's own time does, or nobody would
// read what failed. A machine that is this slow tries fewer values.
fc.configureGlobal({ interruptAfterTimeLimit: 100_000 });

// The files of a worker share its process, so each leaves it as it was.
const before = { ...process.env };
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});
