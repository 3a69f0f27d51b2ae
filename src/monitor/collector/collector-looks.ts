import { setTimeout as wait } from 'node:timers/promises';
import type { TokenCommands } from '../../config/token-commands.ts';
import type { CollectedAnswer } from '../collected/collected-look.ts';
import type { PulseAnswer } from '../pulse/held-session.ts';
import { lookAt } from '../pulse/live-look.ts';
import type { LoadedPulse } from '../pulse/load-pulse.ts';

/** Between two looks, as in the live view of a connection that the service reaches. */
const EVERY_MS = 1_000;
/** The most connections that are watched at a time: each takes a child process. */
const MOST = 5;
/** After so many deliveries in a row that failed, nobody is served any more. */
const MOST_FAILURES = 3;

/** What a look needs. */
export interface LookParts {
  /** The settings of a connection; null if it can't be looked at. */
  load(connection: string): { loaded: LoadedPulse; tokenCommands: TokenCommands } | null;
  /** Delivers an answer. Resolves to whether somebody still watches. */
  deliver(connection: string, answer: CollectedAnswer): Promise<boolean>;
  /** Called when a look has ended, so that the service may ask for it again. */
  ended(): void;
}

/** The live views of a collector's connections: it looks for as long as a person watches in the console of the service. */
export class CollectorLooks {
  readonly #parts: LookParts;
  readonly #until: AbortSignal;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: LookParts, until: AbortSignal) {
    this.#parts = parts;
    this.#until = until;
  }

  /** The connections that it looks at. */
  names(): string[] {
    return [...this.#running.keys()];
  }

  /** Looks at these connections too. */
  start(names: readonly string[]): void {
    for (const name of names) {
      if (this.#running.has(name) || this.#running.size >= MOST) continue;
      const run = this.#watch(name).finally(() => {
        this.#running.delete(name);
        this.#parts.ended();
      });
      this.#running.set(name, run);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Never throws. */
  async #watch(connection: string): Promise<void> {
    const known = this.#parts.load(connection);
    if (!known) {
      const reason = "this connection has no pulse, or is not in the collector's file";
      await this.#parts.deliver(connection, { failure: { kind: 'unread', reason } }).catch(() => false);
      return;
    }
    const { loaded, tokenCommands } = known;
    const live = lookAt(1, loaded, { tokenCommands, allowPrivateTargets: true });
    try {
      for (let failures = 0; failures < MOST_FAILURES && !this.#until.aborted; ) {
        const answer = toAnswer(await live.look());
        const isWatched = await this.#parts.deliver(connection, answer).catch(() => null);
        if (isWatched === false) return;
        failures = isWatched === null ? failures + 1 : 0;
        await wait(EVERY_MS, undefined, { signal: this.#until }).catch(() => {});
      }
    } finally {
      await live.end();
    }
  }
}

/** A deadlock is an event of the pulse. */
function toAnswer(answer: PulseAnswer): CollectedAnswer {
  return 'reading' in answer ? { reading: answer.reading } : answer;
}
