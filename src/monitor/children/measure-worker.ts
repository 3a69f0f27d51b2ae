import { flushCompileCache } from 'node:module';
import { type Instructions, measure } from '../measure.ts';
import type { Measured } from '../nothing-measured.ts';
import type { Progress } from '../progress.ts';
import type { Facts } from '../run-steps.ts';
import type { Target } from '../session/session.ts';

/** One run, as sent to a child. The child holds only this credential, until it has answered. */
export interface Job {
  /** Whose target it is (default: an account that no other job has). A child measures for few accounts. */
  accountId?: number;
  target: Target;
  instructions: Instructions;
  /** Whether to report progress. */
  reportProgress?: boolean;
  /** Whether to report each step and the text of an exception. */
  reportSteps?: boolean;
}

/** The answer of a child. */
export type Answer = { measured: Measured } | { failed: string };

/** What a child reports during the run, if asked to. */
export type WorkerReport = { progress: Progress } | { step: string; facts: Facts };

// The monitor handles a signal to the process group (Ctrl-C): it cancels runs by killing their children.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// Not `process.exit()`, which waits for lookups that hang.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

process.on('message', async (job: Job) => {
  const answered = await answer(job);
  flushCompileCache(); // the engine's modules; after its answer the child may be killed
  process.send?.(answered);
});

flushCompileCache(); // now, because a run may end with the child being killed

async function answer({ target, instructions, reportProgress, reportSteps }: Job): Promise<Answer> {
  const note = reportSteps ? (step: string, facts: Facts) => process.send?.({ step, facts }) : undefined;
  try {
    const { signal } = new AbortController();
    const show = (progress: Progress) => process.send?.({ progress });
    const listener = { ...(reportProgress && { show }), ...(note && { note }) };
    return { measured: await measure(target, { ...instructions, signal, ...listener }) };
  } catch (error) {
    note?.('crash', { stack: error instanceof Error ? error.stack : String(error) });
    return { failed: error instanceof Error ? error.name : 'unknown' };
  }
}
