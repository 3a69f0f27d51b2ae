import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { hashKey } from '../../platform/api-key.ts';
import { LookupQueue } from '../pool/lookup-queue.ts';
import { findKeyPlaces, type KeyPlace } from './directory.ts';

/** The directory's keys as this process last saw them. */
export class KeyPlaces {
  readonly #control: pg.Pool;
  /** By the key's hash in latin1, so that no key stays in memory. */
  readonly #known = new LRUCache<string, KeyPlace>({ max: 50_000 });
  readonly #queue: LookupQueue<KeyPlace>;

  /** `full` makes the error of a lookup beyond the queue's length. */
  constructor(control: pg.Pool, full: () => Error) {
    this.#control = control;
    this.#queue = new LookupQueue((hashes) => this.#ask(hashes), full);
  }

  /** The place that an earlier lookup gave; undefined = none. */
  known(hint: string): KeyPlace | undefined {
    return this.#known.get(hint);
  }

  /** Asks the directory, whatever is known; null = nobody issued the key. */
  find(token: string): Promise<KeyPlace | null> {
    return this.#queue.find(hashKey(token));
  }

  async #ask(hashes: readonly Buffer[]): Promise<Map<string, KeyPlace>> {
    const places = await findKeyPlaces(this.#control, hashes);
    for (const hash of hashes) {
      const hint = hash.toString('latin1');
      const place = places.get(hint);
      if (place) this.#known.set(hint, place);
      else this.#known.delete(hint);
    }
    return places;
  }
}
