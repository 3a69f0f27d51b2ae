import { LRUCache } from 'lru-cache';

// Node itself needs half of the 250 MB that the process may use. A body's compressed forms count towards its size.
const KEPT_BYTES = 32 * 1024 * 1024;

/** A cache of prepared answers by account, generation and URL. One is valid while the gate confirms its generation. */
export class KeptAnswers<Prepared extends { readonly answer: { readonly body: Buffer } }> {
  readonly #kept: LRUCache<string, Prepared>;

  /** `share` of the process's room for cached answers. */
  constructor(share: number) {
    this.#kept = new LRUCache<string, Prepared>({
      maxSize: Math.floor(KEPT_BYTES * share),
      sizeCalculation: ({ answer }, key) => 2 * answer.body.length + 2 * key.length + 500,
    });
  }

  get(accountId: number, generation: number, url: string): Prepared | undefined {
    return this.#kept.get(`${accountId} ${generation} ${url}`);
  }

  keep(accountId: number, generation: number, url: string, prepared: Prepared): void {
    this.#kept.set(`${accountId} ${generation} ${url}`, prepared);
  }
}
