import { flushCompileCache } from 'node:module';
import { type Instructions, type Measured, measure } from './measure.ts';
import type { Progress } from './progress.ts';
import type { Facts } from './run-steps.ts';
import type { Target } from './session/session.ts';

/** What a child is told: one run. It holds this one credential, until it has answered. */
export interface Job {
  target: Target;
  instructions: Instructions;
  /** Whether progress is to be told. */
  tell?: boolean;
  /** Whether each step is to be told, and what an exception says. */
  tellSteps?: boolean;
}

/** What a child answers. */
export type Answer = { measured: Measured } | { failed: string };

/** What a child says meanwhile, where it was told to. */
export type WorkerReport = { progress: Progress } | { step: string; facts: Facts };

// A signal to the group (Ctrl-C) is the monitor's to act on: it calls runs off by ending their child.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit());

process.on('message', async (job: Job) => {
  process.send?.(await answer(job));
});

flushCompileCache(); // now, because a child is ended by a kill

async function answer({ target, instructions, tell, tellSteps }: Job): Promise<Answer> {
  const note = tellSteps ? (step: string, facts: Facts) => process.send?.({ step, facts }) : undefined;
  try {
    const { signal } = new AbortController();
    const show = (progress: Progress) => process.send?.({ progress });
    const hears = { ...(tell && { show }), ...(note && { note }) };
    return { measured: await measure(target, { ...instructions, signal, ...hears }) };
  } catch (error) {
    note?.('crash', { stack: error instanceof Error ? error.stack : String(error) });
    return { failed: error instanceof Error ? error.name : 'unknown' };
  }
}
