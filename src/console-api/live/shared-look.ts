import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { LiveLook } from '../../monitor/pulse/live-look.ts';

/** How often a server is read while members watch it. */
const EVERY_MS = 1_000;

/** A look is opened anew after that, with the settings of then. */
const LONGEST_MS = 300_000;

/** The answer of a look. */
export type Looked = Awaited<ReturnType<LiveLook['look']>>;

/** Failures after which another try would count against the login. */
const ENDING = new Set(['unauthorized', 'no_room']);

/** Whether no other look follows this one. */
export function isEnding(answer: Looked): boolean {
  return 'failure' in answer && ENDING.has(answer.failure.kind);
}

/** One look at a server for all members who watch it: it is read once a second, however many they are. */
export class SharedLook {
  readonly #answers = new EventEmitter().setMaxListeners(0);
  readonly #left = new AbortController();
  #watching = 0;
  #latest: Looked | null = null;
  #hasEnded = false;

  /** Reads until nobody watches any more; then calls `onEnd`, with an error of our own if that ended it. */
  constructor(live: LiveLook, onEnd: (error: unknown) => void) {
    const end = (error: unknown) => {
      this.#hasEnded = true;
      this.#answers.emit('answer', null);
      onEnd(error);
      return live.end();
    };
    // A failure of our own ends this look, and nothing else: the browsers open another one.
    this.#read(live)
      .then(() => end(null), end)
      .catch(() => {}); // its child is gone already
  }

  /** Calls `watch` with each answer, and with null when the look ended. Returns a function that ends watching. */
  watch(watch: (answer: Looked | null) => void): () => void {
    this.#watching += 1;
    this.#answers.on('answer', watch);
    if (this.#latest) watch(this.#latest);
    if (this.#hasEnded) watch(null);
    let isWatching = true;
    return () => {
      if (!isWatching) return;
      isWatching = false;
      this.#answers.off('answer', watch);
      this.#watching -= 1;
      if (this.#watching === 0) this.#left.abort();
    };
  }

  async #read(live: LiveLook): Promise<void> {
    const { signal } = this.#left;
    const began = performance.now();
    while (!signal.aborted && performance.now() - began < LONGEST_MS) {
      const looked = performance.now();
      const answer = await live.look();
      this.#latest = answer;
      this.#answers.emit('answer', answer);
      if (isEnding(answer)) return;
      const pause = Math.max(0, EVERY_MS - (performance.now() - looked));
      await wait(pause, undefined, { signal }).catch(() => {});
    }
  }
}
