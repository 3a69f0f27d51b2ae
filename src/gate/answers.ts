import { LRUCache } from 'lru-cache';

// Half of the 250 MB that the process may use is Node's own; the codings of a body are counted with it.
const KEPT_BYTES = 32 * 1024 * 1024;

/** Answers kept by account, generation and URL: good for as long as the gate says that the generation stands. */
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
