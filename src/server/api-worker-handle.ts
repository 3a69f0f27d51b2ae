import { type ChildProcess, fork } from 'node:child_process';
import { extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Tls } from '../http/edge/tls.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import type { Figures } from '../telemetry/metrics.ts';
import { DRAIN_MS } from './api-server.ts';
import type { WorkerCommand, WorkerInstructions, WorkerReply } from './api-worker.ts';

// How long a worker may take beyond its time to drain before it is killed.
const GRACE_MS = 1_000;

// A worker that does not send its metrics by then is summed up with those that it sent last.
const FIGURES_MS = 1_000;

/** An API worker, as its supervisor sees it. */
export interface ApiWorker {
  child: ChildProcess;
  /** Its port; rejects when it never listens. */
  listening: Promise<number>;
  /** Why it ended: its own message, the signal or the exit code. */
  ended: Promise<string>;
  /** The metrics that it sent last. */
  figures: Figures;
  /** Whether the store fails its requests, as it said last. */
  storeFails: boolean;
}

const SECRETS = [
  ...['DBVITALS_SECRET_KEY', 'DBVITALS_SECRET_KEY_FILE'],
  ...['DBVITALS_OIDC_CLIENT_SECRET', 'DBVITALS_OIDC_CLIENT_SECRET_FILE'],
];

/** Starts a worker; `failures` counts failed authentications for all workers. */
export function startApiWorker(instructions: WorkerInstructions, failures: FailedAuthentications): ApiWorker {
  const path = join(import.meta.dirname, `api-worker${extname(import.meta.filename)}`);
  // It inherits Node's flags. It needs no secret that opens the credentials of connections or signs people in.
  const env = { ...process.env };
  for (const name of SECRETS) delete env[name];
  const child = fork(path, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced' });
  let complaint: string | null = null;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(complaint ?? signal ?? `exit code ${code}`));
  });
  const listening = new Promise<number>((resolve, reject) => {
    child.on('message', (message) => {
      const reply = message as WorkerReply; // from our own program
      if ('listening' in reply) resolve(reply.listening);
      if ('failed' in reply) {
        complaint = reply.failed;
        reject(new Error(complaint));
      }
      if ('storeFails' in reply) one.storeFails = reply.storeFails;
      if ('count' in reply) send(child, failures.countHere(reply.count));
    });
    void ended.then((reason) => reject(new Error(`An API worker could not start: ${reason}.`)));
  });
  listening.catch(() => {}); // callers that wait for it see the error; a later worker is restarted
  send(child, { start: instructions });
  const one: ApiWorker = { child, listening, ended, figures: [], storeFails: false };
  return one;
}

/** A worker that is gone meanwhile is noticed by its exit. */
function send(child: ChildProcess, command: WorkerCommand): void {
  if (child.connected) child.send(command, () => {});
}

/** Brings its metrics up to date, if it sends them in time. */
export async function askFigures(one: ApiWorker): Promise<void> {
  const { child, ended } = one;
  let hear: (message: unknown) => void = () => {};
  const received = new Promise<void>((resolve) => {
    hear = (message) => {
      const reply = message as WorkerReply;
      if (!('figures' in reply)) return;
      one.figures = reply.figures;
      resolve();
    };
  });
  child.on('message', hear);
  send(child, { figures: true });
  await Promise.race([received, ended, wait(FIGURES_MS, undefined, { ref: false })]);
  child.off('message', hear);
}

/** Tells it to ask its clients to go elsewhere. */
export function leave({ child }: ApiWorker): void {
  send(child, { leave: true });
}

/** Gives it a new certificate. */
export function renew({ child }: ApiWorker, tls: Tls): void {
  send(child, { tls });
}

/** Makes it drain; resolves when it has ended, which takes 9 s at most. */
export async function hangUp({ child, ended }: ApiWorker): Promise<void> {
  if (child.connected) child.disconnect();
  const late = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS + GRACE_MS);
  await ended;
  clearTimeout(late);
}
