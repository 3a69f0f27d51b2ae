/** Wrong usage: one sentence that says what to do. The exit code is 2; every other error exits with 1. */
export class UsageError extends Error {}
