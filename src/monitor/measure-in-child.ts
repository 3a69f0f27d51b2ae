import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { catalogues } from '../checks/catalogue.ts';
import { LIMITS } from './limits.ts';
import type { Measured } from './measure.ts';
import type { Answer, Job, WorkerReport } from './measure-worker.ts';
import { endedOutcomes } from './not-connected.ts';
import type { Progress } from './progress.ts';
import type { NoteStep } from './run-steps.ts';

// Measured: a start takes 105 ms and 38 MB of its own, 55 ms and 15 MB with the code compiled (docs/decisions/0013).
const RUNS = 50;
const IDLE_MS = 20_000;
const PATIENCE_MS = 2_000;
const HEAP_MB = 128;
// What a child may take beyond the run's own limit before it is killed.
const GRACE_MS = 3_000;

const LONGEST_OUTPUT = 8_000;

/** Who hears of a run while it goes on. */
interface Hears {
  /** How far it has come. */
  show?: ((progress: Progress) => void) | undefined;
  /** Each of its steps, and what a child that crashed printed. */
  note?: NoteStep | undefined;
}

interface Child {
  process: ChildProcess;
  /** What it printed to its standard error, from its start; nothing unless steps are noted. */
  printed: string;
  runs: number;
  /** Ends it when it has been idle for long. */
  timer: NodeJS.Timeout | null;
}

const idle: Child[] = [];
const waiting: ((child: Child) => void)[] = [];
let children = 0;

/**
 * Measures a target in a child process that holds nothing else: what the server does to it ends with it. The child
 * is killed when the run is over its time or `signal` aborts, whose reason is then thrown; a run that ended so, or by
 * a crash, says of every check that it was not measured. Two are kept for the next runs, and end when idle.
 */
export async function measureInChild(job: Job, signal: AbortSignal, hears: Hears = {}): Promise<Measured> {
  const child = await freeChild(hears.note !== undefined);
  const { runMs } = job.instructions.limits ?? LIMITS;
  const until = AbortSignal.any([signal, AbortSignal.timeout(runMs + GRACE_MS)]);
  const tells = { tell: hears.show !== undefined, tellSteps: hears.note !== undefined };
  const answer = await answerOf(child, { ...job, ...tells }, until, hears);
  giveBack(child, 'measured' in answer);
  signal.throwIfAborted();
  if ('measured' in answer) return answer.measured;
  const outcomes = endedOutcomes(catalogues[job.target.engine], answer.failed);
  const cost = { milliseconds: 0, statements: 0, bytes: 0 };
  return { outcomes, samples: [], cost, hostKey: null, server: null };
}

/** An idle child; else one that gets free within a moment, where two or more run; else a new one. */
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
  // Given away in the very moment in which the wait was over: it is ours.
  return place < 0 ? freed : child;
}

function giveBack(child: Child, well: boolean): void {
  child.runs++;
  if (!well || child.runs >= RUNS || !child.process.connected) {
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
    forget(child); // before it has ended, or a run could still be given to it
    child.process.kill('SIGKILL');
  }, IDLE_MS).unref();
}

function forget(child: Child): void {
  const place = idle.indexOf(child);
  if (place >= 0) idle.splice(place, 1);
}

function answerOf(one: Child, job: Job, until: AbortSignal, { show, note }: Hears): Promise<Answer> {
  const { process: child } = one;
  return new Promise((resolve) => {
    const end = (answer: Answer) => {
      child.off('message', heard).off('exit', ended).off('error', ended);
      until.removeEventListener('abort', stop);
      resolve(answer);
    };
    // Our own program's.
    const heard = (message: unknown) => {
      const said = message as Answer | WorkerReport;
      if ('progress' in said) show?.(said.progress);
      else if ('step' in said) note?.(said.step, said.facts);
      else end(said);
    };
    const ended = () => {
      if (note) noteCrash(one, job, note);
      end({ failed: 'the process that measured it ended early' });
    };
    const stop = () => end({ failed: 'the run took too long and was ended' });
    child.on('message', heard).on('exit', ended).on('error', ended);
    until.addEventListener('abort', stop);
    if (until.aborted) stop();
    else child.send(job, (error) => error && ended());
  });
}

function start(keepsOutput: boolean): Child {
  const compiles = cache === null;
  const path = join(import.meta.dirname, `measure-worker${extname(import.meta.filename)}`);
  const child = fork(path, {
    execArgv: [
      `--max-old-space-size=${HEAP_MB}`,
      '--v8-pool-size=1',
      '--max-semi-space-size=1',
      '--use-system-ca',
      '--no-warnings',
    ],
    env: { ...trust(), NODE_COMPILE_CACHE: compileCache() },
    stdio: ['ignore', 'ignore', keepsOutput ? 'pipe' : 'ignore', 'ipc'],
  });
  children++;
  // The one that compiles for the others is large: it goes after its first run.
  const started: Child = { process: child, printed: '', runs: compiles ? RUNS - 1 : 0, timer: null };
  if (child.stderr) keepOutput(started, child.stderr);
  child.on('error', () => {});
  child.once('exit', () => {
    children--;
    forget(started);
  });
  return started;
}

/** Its beginning, where an exception says what it is; the pipe keeps no process alive. */
function keepOutput(child: Child, stderr: Readable): void {
  stderr.setEncoding('utf8').on('data', (text: string) => {
    child.printed = (child.printed + text).slice(0, LONGEST_OUTPUT);
  });
  if (stderr instanceof Socket) stderr.unref();
}

/** Tells why a child ended early, once all that it printed is here. */
function noteCrash(child: Child, { target }: Job, note: NoteStep): void {
  child.process.once('close', (code, signal) => {
    const secrets = [target.password, ...(target.tunnel?.privateKey?.split('\n') ?? [])];
    const printed = secrets
      .filter((secret) => secret !== null && secret.trim() !== '')
      .reduce((text: string, secret) => text.replaceAll(secret ?? '', '***'), child.printed);
    note('crash', { code, signal, stderr: printed });
  });
}

// Nothing else of the environment: it may hold the store's password and the key of all credentials.
function trust(): Record<string, string> {
  const names = ['PATH', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

let cache: string | null = null;

// The one from which this process loads, where it was given one; else a folder of its own: code that another user put into a
// shared one would run here.
function compileCache(): string {
  cache ??= process.env['NODE_COMPILE_CACHE'] || ownFolder();
  return cache;
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-cache-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
