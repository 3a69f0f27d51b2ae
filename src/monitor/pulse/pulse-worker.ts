import { flushCompileCache } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import type { Target } from '../session/session.ts';
import { HeldSession, type PulseAnswer } from './held-session.ts';

/** What a child is asked: to read a connection once, to forget it, or whether it still works. */
export type PulseRequest =
  | {
      /** Of the connection. */
      id: number;
      /** Where it is, on the first pulse and after a change; absent = as before. */
      target?: Target;
      allowPrivateTargets: boolean;
    }
  | { forget: number }
  | { ping: true };

/** What a child answers. */
export type PulseReply = { id: number; answer: PulseAnswer } | { pong: true };

// Sessions are closed properly, because servers log and count those that just vanish. The parent waits as long.
const CLOSE_MS = 1_000;

const sessions = new Map<number, HeldSession>();

// The monitor handles a signal to the process group (Ctrl-C): it disconnects its children.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

process.on('disconnect', () => {
  const closed = Promise.all([...sessions.values()].map((session) => session.end()));
  // Not `process.exit()`, which waits for lookups that hang.
  void Promise.race([closed, wait(CLOSE_MS)]).then(() => process.kill(process.pid, 'SIGKILL'));
});

process.on('message', async (request: PulseRequest) => {
  if ('ping' in request) {
    process.send?.({ pong: true } satisfies PulseReply);
    return;
  }
  if ('forget' in request) {
    const session = sessions.get(request.forget);
    sessions.delete(request.forget);
    await session?.end();
    return;
  }
  const { id, target, allowPrivateTargets } = request;
  if (target) {
    void sessions.get(id)?.end();
    sessions.set(id, new HeldSession(target, allowPrivateTargets));
  }
  const answer = await sessions.get(id)?.pulse();
  if (answer) process.send?.({ id, answer } satisfies PulseReply);
  if (target) flushCompileCache(); // the engine's modules
});

flushCompileCache();
