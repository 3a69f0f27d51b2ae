import type { BlockingEpisode } from '../../runs/episodes/blocking-episode.ts';

/** The most that wait for the store: those of a few minutes of a server that is badly off. */
const MOST_WAITING = 200;

/**
 * The episodes of a connection on their way to the store. Pulses do not wait for it: a store that is slow, or away for some minutes,
 * delays no look and loses no episode.
 */
export class EpisodeOutbox {
  readonly #store: (episode: BlockingEpisode) => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  /** By root and beginning: of one episode, only what it is now. */
  readonly #waiting = new Map<string, BlockingEpisode>();
  #isStoring = false;
  #storing: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /** `onFailure` is called for the first failure after a success. */
  constructor(store: (episode: BlockingEpisode) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#store = store;
    this.#onFailure = onFailure;
  }

  /** Stores these, and those that could not be stored before, in the background. */
  send(episodes: readonly BlockingEpisode[]): void {
    for (const episode of episodes) this.#waiting.set(keyOf(episode), episode);
    for (const key of [...this.#waiting.keys()].slice(0, -MOST_WAITING)) this.#waiting.delete(key);
    if (!this.#isStoring) this.#storing = this.#flush();
  }

  /** Resolves when what was sent is stored, or could not be. */
  settled(): Promise<void> {
    return this.#storing;
  }

  async #flush(): Promise<void> {
    this.#isStoring = true;
    try {
      for (let [next] = this.#waiting.values(); next; [next] = this.#waiting.values()) {
        await this.#store(next);
        this.#hasFailed = false;
        const key = keyOf(next);
        if (this.#waiting.get(key) === next) this.#waiting.delete(key);
      }
    } catch (error) {
      if (!this.#hasFailed) this.#onFailure(error); // the next pulse tries again
      this.#hasFailed = true;
    } finally {
      this.#isStoring = false;
    }
  }
}

function keyOf({ root, began_at }: BlockingEpisode): string {
  return `${root} ${began_at.getTime()}`;
}
