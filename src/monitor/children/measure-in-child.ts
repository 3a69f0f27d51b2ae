import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { LIMITS } from '../limits.ts';
import { endedOutcomes, type Measured, nothingMeasured } from '../nothing-measured.ts';
import type { Progress } from '../progress.ts';
import type { NoteStep } from '../run-steps.ts';
import { forkWorker, hasCompileCache } from './fork-worker.ts';
import type { Answer, Job, WorkerReport } from './measure-worker.ts';

// A child's first ten runs take twice the processor time of later ones (docs/decisions/0013). A server that takes over a child
// sees the credentials of later runs, so the accounts are counted too.
const RUNS = 1_000;
const ACCOUNTS = 50;
// A run makes about 4 MB of objects. With 1 MB, those that live a little longer are copied six times a run.
const SEMI_SPACE_MB = 4;
const IDLE_MS = 20_000;
const PATIENCE_MS = 2_000;
// How long a child may exceed the run's limit before it is killed.
const GRACE_MS = 3_000;

const LONGEST_OUTPUT = 8_000;

/** Callbacks during a run. */
export interface RunListener {
  /** Receives the progress. */
  show?: ((progress: Progress) => void) | undefined;
  /** Receives each step, and the output of a child that crashed. */
  note?: NoteStep | undefined;
}

interface Child {
  process: ChildProcess;
  /** What it has printed to standard error; empty unless steps are logged. */
  printed: string;
  runs: number;
  /** For whom it has measured. */
  accounts: Set<number | symbol>;
  /** Ends the child when it has been idle for too long. */
  timer: NodeJS.Timeout | null;
}

const idle: Child[] = [];
const waiting: ((child: Child) => void)[] = [];
let children = 0;

/**
 * Measures a target in a child process that holds nothing else, so a hostile server can harm only the child. Kills
 * the child when the run exceeds its time or `signal` aborts; throws the reason of `signal`. After a timeout or a
 * crash, every check counts as not measured. Up to two idle children are kept for the next runs.
 */
export async function measureInChild(
  job: Job,
  signal: AbortSignal,
  listener: RunListener = {},
): Promise<Measured> {
  const child = await freeChild(listener.note !== undefined);
  child.accounts.add(job.accountId ?? Symbol('unknown'));
  const { runMs } = job.instructions.limits ?? LIMITS;
  const until = AbortSignal.any([signal, AbortSignal.timeout(runMs + GRACE_MS)]);
  const reports = { reportProgress: listener.show !== undefined, reportSteps: listener.note !== undefined };
  const answer = await answerOf(child, { ...job, ...reports }, until, listener);
  release(child, 'measured' in answer);
  signal.throwIfAborted();
  if ('measured' in answer) return answer.measured;
  const { catalogues } = await import('../../checks/catalogue.ts'); // an idle collector does without
  return nothingMeasured(endedOutcomes(catalogues[job.target.engine], answer.failed));
}

/** An idle child; or, if two or more run, the next one that becomes free within 2 s; or a new one. */
async function freeChild(keepsOutput: boolean): Promise<Child> {
  const child = idle.pop() ?? (children >= 2 ? await nextFree() : null) ?? start(keepsOutput);
  if (child.timer) clearTimeout(child.timer);
  child.process.ref();
  child.process.channel?.ref();
  return child;
}

async function nextFree(): Promise<Child | null> {
  let take: (child: Child) => void = () => {};
  const freed = new Promise<Child>((resolve) => {
    take = resolve;
  });
  waiting.push(take);
  const child = await Promise.race([freed, wait(PATIENCE_MS, null)]);
  const place = waiting.indexOf(take);
  if (place >= 0) waiting.splice(place, 1);
  // A child was assigned at the moment when the wait ended: use it.
  return place < 0 ? freed : child;
}

function release(child: Child, healthy: boolean): void {
  child.runs++;
  const isSpent = child.runs >= RUNS || child.accounts.size >= ACCOUNTS;
  if (!healthy || isSpent || !child.process.connected) {
    child.process.kill('SIGKILL');
    return;
  }
  const next = waiting.shift();
  if (next) {
    next(child);
    return;
  }
  if (idle.length >= 2) {
    child.process.kill('SIGKILL');
    return;
  }
  idle.push(child);
  child.process.unref();
  child.process.channel?.unref();
  child.timer = setTimeout(() => {
    forget(child); // first, so that no run gets a child that is ending
    child.process.kill('SIGKILL');
  }, IDLE_MS).unref();
}

function forget(child: Child): void {
  const place = idle.indexOf(child);
  if (place >= 0) idle.splice(place, 1);
}

/** Ends the children that wait for a run, because they have the environment and the output of the time when they started. */
export function endIdleChildren(): void {
  for (const child of idle.splice(0)) {
    if (child.timer) clearTimeout(child.timer);
    child.process.kill('SIGKILL');
  }
}

function answerOf(one: Child, job: Job, until: AbortSignal, { show, note }: RunListener): Promise<Answer> {
  const { process: child } = one;
  return new Promise((resolve) => {
    const end = (answer: Answer) => {
      child.off('message', onMessage).off('exit', onExit).off('error', onExit);
      until.removeEventListener('abort', stop);
      resolve(answer);
    };
    // Messages come from our own program.
    const onMessage = (sent: unknown) => {
      const message = sent as Answer | WorkerReport;
      if ('progress' in message) show?.(message.progress);
      else if ('step' in message) note?.(message.step, message.facts);
      else end(message);
    };
    const onExit = () => {
      if (note) noteCrash(one, job, note);
      end({ failed: 'the measuring process ended early' });
    };
    const stop = () => end({ failed: 'the run took too long and was stopped' });
    child.on('message', onMessage).on('exit', onExit).on('error', onExit);
    until.addEventListener('abort', stop);
    if (until.aborted) stop();
    else child.send(job, (error) => error && onExit());
  });
}

function start(keepsOutput: boolean): Child {
  const compiles = !hasCompileCache();
  const child = forkWorker('children/measure-worker', { keepsOutput, semiSpaceMb: SEMI_SPACE_MB });
  children++;
  // The child that compiles the code for the others is large, so it ends after its first run.
  const runs = compiles ? RUNS - 1 : 0;
  const started: Child = { process: child, printed: '', runs, accounts: new Set(), timer: null };
  if (child.stderr) keepOutput(started, child.stderr);
  child.on('error', () => {});
  child.once('exit', () => {
    children--;
    forget(started);
  });
  return started;
}

/** Keeps the beginning of the output, which names the exception. The pipe does not keep the process alive. */
function keepOutput(child: Child, stderr: Readable): void {
  stderr.setEncoding('utf8').on('data', (text: string) => {
    child.printed = (child.printed + text).slice(0, LONGEST_OUTPUT);
  });
  if (stderr instanceof Socket) stderr.unref();
}

/** Logs why a child ended early, once its output is complete. */
function noteCrash(child: Child, { target }: Job, note: NoteStep): void {
  child.process.once('close', (code, signal) => {
    const secrets = [target.password, ...(target.tunnel?.privateKey?.split('\n') ?? [])];
    const printed = secrets
      .filter((secret) => secret !== null && secret.trim() !== '')
      .reduce((text: string, secret) => text.replaceAll(secret ?? '', '***'), child.printed);
    note('crash', { code, signal, stderr: printed });
  });
}
