import { flushCompileCache } from 'node:module';
import { type Instructions, type Measured, measure } from './measure.ts';
import type { Progress } from './progress.ts';
import type { Target } from './session.ts';

/** What a child is told: one run. It holds this one credential, until it has answered. */
export interface Job {
  target: Target;
  instructions: Instructions;
  /** Whether progress is to be told. */
  tell?: boolean;
}

/** What a child answers. */
export type Answer = { measured: Measured } | { failed: string };

/** What a child says meanwhile, where it was told to. */
export interface Told {
  progress: Progress;
}

// A signal to the group (Ctrl-C) is the monitor's to act on: it calls runs off by ending their child.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit());

process.on('message', async (job: Job) => {
  process.send?.(await answer(job));
});

flushCompileCache(); // now, because a child is ended by a kill

async function answer({ target, instructions, tell }: Job): Promise<Answer> {
  try {
    const { signal } = new AbortController();
    const show = (progress: Progress) => process.send?.({ progress });
    return { measured: await measure(target, { ...instructions, signal, ...(tell && { show }) }) };
  } catch (error) {
    return { failed: error instanceof Error ? error.name : 'unknown' };
  }
}
