import fc from 'fast-check';

// A failed property is tried again with thousands of smaller values. That ends before the test's own time does, or nobody would
// read what failed. A machine that is this slow tries fewer values.
fc.configureGlobal({ interruptAfterTimeLimit: 100_000 });
