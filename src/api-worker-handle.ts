import { type ChildProcess, fork } from 'node:child_process';
import { extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DRAIN_MS } from './api-server.ts';
import type { Instructions, Said, Told } from './api-worker.ts';
import type { FailedAuthentications } from './http/failed-authentications.ts';
import type { Tls } from './http/tls.ts';
import type { Figures } from './metrics.ts';

// What a process may take beyond its own time to drain before it is killed.
const GRACE_MS = 1_000;

// A process that does not tell its figures by then is summed up as it last was.
const FIGURES_MS = 1_000;

/** A process that answers, as its supervisor sees it. */
export interface ProcessApart {
  child: ChildProcess;
  /** Its port; a sentence is thrown when it never listens. */
  listening: Promise<number>;
  /** Why it ended: its own sentence, the signal or the exit code. */
  ended: Promise<string>;
  /** As it last told them. */
  figures: Figures;
  /** Whether the store fails its requests, as it last told. */
  storeFails: boolean;
}

const SECRETS = [
  ...['DBVITALS_SECRET_KEY', 'DBVITALS_SECRET_KEY_FILE'],
  ...['DBVITALS_OIDC_CLIENT_SECRET', 'DBVITALS_OIDC_CLIENT_SECRET_FILE'],
];

/** Starts a process that answers; `failures` counts for it and its like. */
export function startApart(instructions: Instructions, failures: FailedAuthentications): ProcessApart {
  const path = join(import.meta.dirname, `api-worker${extname(import.meta.filename)}`);
  // It takes Node's flags of this process. What opens the credentials of connections, or asks who signs in, is none of its business.
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
      const said = message as Said; // our own program's
      if ('listening' in said) resolve(said.listening);
      if ('failed' in said) {
        complaint = said.failed;
        reject(new Error(complaint));
      }
      if ('storeFails' in said) one.storeFails = said.storeFails;
      if ('count' in said) tell(child, failures.countHere(said.count));
    });
    void ended.then((reason) => reject(new Error(`A process that answers could not start: ${reason}.`)));
  });
  listening.catch(() => {}); // whoever waits for it hears of it; a later one is only started again
  tell(child, { start: instructions });
  const one: ProcessApart = { child, listening, ended, figures: [], storeFails: false };
  return one;
}

/** A child that has gone meanwhile is told of by its exit. */
function tell(child: ChildProcess, told: Told): void {
  if (child.connected) child.send(told, () => {});
}

/** Brings its figures up to date, if it tells them in time. */
export async function askFigures(one: ProcessApart): Promise<void> {
  const { child, ended } = one;
  let hear: (said: unknown) => void = () => {};
  const told = new Promise<void>((resolve) => {
    hear = (message) => {
      const said = message as Said;
      if (!('figures' in said)) return;
      one.figures = said.figures;
      resolve();
    };
  });
  child.on('message', hear);
  tell(child, { figures: true });
  await Promise.race([told, ended, wait(FIGURES_MS, undefined, { ref: false })]);
  child.off('message', hear);
}

/** Has it send its clients elsewhere. */
export function leave({ child }: ProcessApart): void {
  tell(child, { leave: true });
}

/** Gives it a new certificate. */
export function renew({ child }: ProcessApart, tls: Tls): void {
  tell(child, { tls });
}

/** Has it drain; resolves when it has ended, which it must within 9 s. */
export async function hangUp({ child, ended }: ProcessApart): Promise<void> {
  if (child.connected) child.disconnect();
  const late = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS + GRACE_MS);
  await ended;
  clearTimeout(late);
}
