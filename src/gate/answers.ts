import { LRUCache } from 'lru-cache';

// Node itself needs half of the 250 MB that the process may use. A body's compressed forms count towards its size.
const KEPT_BYTES = 32 * 1024 * 1024;

/** A cache of answers by account, generation and URL. An answer is valid while the gate confirms its generation. */
export class KeptAnswers<Answer extends { readonly body: Buffer }> {
  readonly #answers = new LRUCache<string, Answer>({
    maxSize: KEPT_BYTES,
    sizeCalculation: (answer, key) => 2 * answer.body.length + 2 * key.length + 500,
  });

  get(accountId: number, generation: number, url: string): Answer | undefined {
    return this.#answers.get(`${accountId} ${generation} ${url}`);
  }

  keep(accountId: number, generation: number, url: string, answer: Answer): void {
    this.#answers.set(`${accountId} ${generation} ${url}`, answer);
  }
}
