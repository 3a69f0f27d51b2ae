/** A key can't be changed as wanted: it has come to its end. The message is one sentence. */
export class KeyRefusal extends Error {}

/** There is no such key in the account. */
export class NoKey extends Error {
  constructor(id: number) {
    super(`There is no key ${id}.`);
  }
}
