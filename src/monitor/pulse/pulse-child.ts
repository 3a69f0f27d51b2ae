import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { forkWorker } from '../children/fork-worker.ts';
import type { Target } from '../session/session.ts';
import { PULSE_LIMITS, type PulseAnswer } from './held-session.ts';
import type { PulseReply, PulseRequest } from './pulse-worker.ts';
import { DEADLOCK_STATEMENTS } from './reading/read-deadlock.ts';

/** A child that has not answered by then hangs: it ends each pulse itself before that. */
const HUNG_MS =
  PULSE_LIMITS.reachMs + PULSE_LIMITS.connectMs + (3 + DEADLOCK_STATEMENTS) * PULSE_LIMITS.answerMs + 2_000;

/** A child that has not answered a pulse by then is asked whether it works at all, and killed if it does not say so in this time. */
const ASKED_AFTER_MS = 1_000;
const SILENT_MS = 3_000;

/** How long a child may take to close its sessions. */
const CLOSE_MS = 1_500;

/** The child ended, or was killed because it hung, while it read the connection. */
export class PulseChildLost extends Error {}

interface Pending {
  resolve(answer: PulseAnswer): void;
  reject(error: PulseChildLost): void;
  /** They ask whether the child works, and kill it. */
  timers: readonly NodeJS.Timeout[];
}

/** A child process that holds sessions with servers of one account. */
export class PulseChild {
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  /** The targets that it knows, by connection. */
  readonly #targets = new Map<number, Target>();
  #hasEnded = false;
  /** It takes a while to start. */
  #hasStarted = false;
  /** Kills it; null while it is not asked whether it works. */
  #silence: NodeJS.Timeout | null = null;

  constructor() {
    this.#process = forkWorker('pulse/pulse-worker');
    this.#exited = new Promise((resolve) => {
      this.#process.once('exit', () => resolve());
      this.#process.on('error', () => resolve());
    });
    // Messages come from our own program.
    this.#process.on('message', (reply: PulseReply) => {
      this.#hasStarted = true;
      if ('pong' in reply) this.#hear();
      else this.#settle(reply.id)?.resolve(reply.answer);
    });
    void this.#exited.then(() => {
      this.#hasEnded = true;
      this.#loseAll();
    });
  }

  /** How many connections it holds. */
  get size(): number {
    return this.#targets.size;
  }

  /** Its channel may be open for a moment after it ended. */
  get isLost(): boolean {
    return this.#hasEnded || !this.#process.connected;
  }

  /** Reads a connection once, one pulse at a time. Throws {@link PulseChildLost}. */
  pulse(id: number, target: Target, allowPrivateTargets: boolean): Promise<PulseAnswer> {
    const isNew = this.#targets.get(id) !== target;
    this.#targets.set(id, target);
    return new Promise((resolve, reject) => {
      const timers = [
        setTimeout(() => this.#ask(), ASKED_AFTER_MS),
        setTimeout(() => this.#process.kill('SIGKILL'), HUNG_MS),
      ];
      this.#pending.set(id, { resolve, reject, timers });
      this.#send({ id, allowPrivateTargets, ...(isNew && { target }) });
    });
  }

  forget(id: number): void {
    if (!this.#targets.delete(id)) return;
    this.#settle(id)?.reject(new PulseChildLost());
    this.#send({ forget: id });
  }

  /** Closes its sessions and ends it. */
  async end(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    const waiting = new AbortController();
    const late = wait(CLOSE_MS, undefined, { signal: waiting.signal }).catch(() => {});
    await Promise.race([this.#exited, late]);
    waiting.abort();
    this.#process.kill('SIGKILL');
  }

  #send(request: PulseRequest): void {
    if (!this.#process.connected) {
      this.#loseAll();
      return;
    }
    this.#process.send(request, (error) => {
      if (!error) return;
      this.#hasEnded = true;
      this.#process.kill('SIGKILL');
      this.#loseAll();
    });
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.timers.forEach(clearTimeout);
    return pending;
  }

  /** Asks whether it still works: all connections wait for a child that hangs, as for a server that is silent. */
  #ask(): void {
    if (this.#silence || !this.#hasStarted) return;
    this.#silence = setTimeout(() => this.#process.kill('SIGKILL'), SILENT_MS);
    this.#send({ ping: true });
  }

  #hear(): void {
    if (this.#silence) clearTimeout(this.#silence);
    this.#silence = null;
  }

  #loseAll(): void {
    this.#hear();
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(new PulseChildLost());
  }
}
