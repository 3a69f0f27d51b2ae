import type { SecretPlace } from '../secrets/secret-schema.ts';

const LONGEST = 100;

/** Names the file of each secret that an exported account refers to, such as `shop.password`. No two have the same name. */
export class SecretPlaces {
  readonly #used = new Set<string>();

  /** `owner` is the name of the connection or destination, `what` the kind of secret. */
  place(owner: string, what: 'password' | 'ssh-key' | 'url' | 'routing-key' | 'authorization'): SecretPlace {
    const words = owner.toLowerCase().replace(/[^\p{L}\p{N}_.-]+/gu, '-');
    const base = words.slice(0, LONGEST).replace(/^[.-]+|[.-]+$/g, '') || 'secret';
    for (let number = 1; ; number += 1) {
      const file = `${base}${number === 1 ? '' : `-${number}`}.${what}`;
      if (this.#used.has(file)) continue;
      this.#used.add(file);
      return { file };
    }
  }
}
