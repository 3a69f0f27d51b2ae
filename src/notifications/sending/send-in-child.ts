import { type ChildProcess, fork } from 'node:child_process';
import { extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { childEnvironment } from '../../platform/network/child-environment.ts';
import { failedAttempt } from './failed-attempt.ts';
import type { OutgoingRequest, Send, SendResult } from './outgoing.ts';
import { LIMITS } from './send-limits.ts';
import type { SendSettings, WorkerMessage, WorkerResult } from './send-worker.ts';

const HEAP_MB = 64;
// A child that lived this long did not die at the start.
const HEALTHY_MS = 60_000;
const LONGEST_PAUSE_MS = 30_000;

interface Job {
  request: OutgoingRequest;
  began: number;
  /** That it was sent to; null = it waits. */
  child: ChildProcess | null;
  end: (result: SendResult) => void;
}

/** Sends requests in a child process. */
export interface Sender {
  send: Send;
  /** Lets requests finish for up to 5 s, then ends the child. */
  stop(): Promise<void>;
}

/**
 * Sends requests in one long-lived child, which holds neither a store login nor the secret key, so a hostile receiver or resolver
 * can harm only the child. It starts with the first request, and again after it died: what it was sending then ends as a failed
 * attempt. An idle child does not keep this process alive.
 */
export function startSender({ log, ...settings }: SendSettings & { log: Logger }): Sender {
  const jobs = new Map<number, Job>();
  let lastId = 0;
  let child: ChildProcess | null = null;
  let isPausing = false;
  let deaths = 0;
  let stopped = false;
  let emptied: () => void = () => {};

  function send(request: OutgoingRequest): Promise<SendResult> {
    const began = performance.now();
    if (stopped) return Promise.resolve(failedAttempt('dbvitals is stopping.', began));
    return new Promise((resolve) => {
      lastId++;
      const id = lastId;
      const timer = setTimeout(() => giveUp(id), LIMITS.wholeMs + LIMITS.bodyMs + LIMITS.hangMs);
      const end = (result: SendResult) => {
        clearTimeout(timer);
        jobs.delete(id);
        if (jobs.size === 0) letGo();
        resolve(result);
      };
      jobs.set(id, { request, began, child: null, end });
      work();
    });
  }

  /** Sends the jobs that wait for a child. */
  function work(): void {
    if (isPausing) return;
    child ??= start();
    child.ref();
    child.channel?.ref();
    for (const [id, job] of jobs) {
      if (job.child !== null) continue;
      job.child = child;
      post(child, { id, request: job.request });
    }
  }

  function start(): ChildProcess {
    const born = performance.now();
    const started = forkWorker();
    post(started, { settings: { ...settings } });
    started.on('message', (message) => {
      const { id, result } = message as WorkerResult; // from our own program
      jobs.get(id)?.end(result);
    });
    started.on('error', () => started.pid === undefined && onEnd(null, null)); // it could not be started
    started.once('disconnect', () => started.kill('SIGKILL'));
    started.once('exit', onEnd);
    function onEnd(code: number | null, signal: NodeJS.Signals | null): void {
      const lost = [...jobs.values()].filter((job) => job.child === started);
      if (!stopped)
        log.warn({ code, signal, requests: lost.length }, 'the process that sends notifications ended early');
      if (child === started) {
        child = null;
        deaths = performance.now() - born >= HEALTHY_MS ? 1 : deaths + 1;
        if (!stopped) void pause(Math.min(250 * 2 ** (deaths - 1), LONGEST_PAUSE_MS));
      }
      for (const { end, began } of lost)
        end(failedAttempt('The sending process ended during this request.', began));
    }
    return started;
  }

  async function pause(ms: number): Promise<void> {
    isPausing = true;
    await wait(ms, undefined, { ref: false });
    isPausing = false;
    if (jobs.size > 0) work();
  }

  function giveUp(id: number): void {
    const job = jobs.get(id);
    // Forgotten first, so that no request is sent to a child that is ending.
    if (job?.child && job.child === child) child = null;
    job?.child?.kill('SIGKILL');
    job?.end(failedAttempt('The sending process did not answer.', job.began));
  }

  function letGo(): void {
    child?.unref();
    child?.channel?.unref();
    emptied();
  }

  async function stop(): Promise<void> {
    stopped = true;
    const { promise: empty, resolve } = Promise.withResolvers<void>();
    emptied = resolve;
    if (jobs.size > 0) await Promise.race([empty, wait(LIMITS.graceMs, undefined, { ref: false })]);
    for (const { end, began } of jobs.values())
      end(failedAttempt('dbvitals stopped before the answer came.', began));
    const last = child;
    if (last === null) return;
    const { promise: ended, resolve: exited } = Promise.withResolvers<void>();
    last.ref();
    last.once('exit', () => exited());
    last.kill('SIGKILL');
    await ended;
  }

  return { send, stop };
}

function forkWorker(): ChildProcess {
  const path = join(import.meta.dirname, `send-worker${extname(import.meta.filename)}`);
  return fork(path, {
    execArgv: [
      `--max-old-space-size=${HEAP_MB}`,
      '--v8-pool-size=1',
      '--max-semi-space-size=2',
      '--use-system-ca',
      '--no-warnings',
    ],
    env: childEnvironment(),
    // What it prints could contain a request.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

// A message that can't be sent is lost with the child, whose end is noticed.
function post(child: ChildProcess, message: WorkerMessage): void {
  child.send(message, () => {});
}
