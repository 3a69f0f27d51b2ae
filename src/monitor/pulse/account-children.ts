import type { Target } from '../session/session.ts';
import type { PulseAnswer } from './held-session.ts';
import { PulseChild, PulseChildLost } from './pulse-child.ts';

/** The most connections of one child, so that its sessions fit into its memory. */
const MOST_CONNECTIONS = 200;

/** After so many pulses without a loss, a connection is read together with all others again. */
const CLEARED_AFTER = 6;

/** A connection that a child was lost with. */
interface Suspect {
  /** Its pulses since. */
  pulses: number;
  /** Another child was lost with it: it is read alone. Until then it is read together with other suspects. */
  isAlone: boolean;
}

/** The children that pulse the connections of one account. No child has connections of two accounts. */
export class AccountChildren {
  readonly #allowPrivate: boolean;
  readonly #children = new Set<PulseChild>();
  readonly #places = new Map<number, PulseChild>();
  readonly #suspects = new Map<number, Suspect>();
  /** Of suspects. Most of them have nothing to do with the loss, so they do not wait for each other. */
  #quarantine: PulseChild | null = null;
  /** Of those that are read alone, one at a time. */
  #alone: PulseChild | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #hasEnded = false;

  constructor(allowPrivate: boolean) {
    this.#allowPrivate = allowPrivate;
  }

  /**
   * Reads a connection once. If the child was lost, it is read again with the others that were lost with it, and then alone. Throws
   * {@link PulseChildLost} if that child was lost too.
   */
  async pulse(id: number, target: Target): Promise<PulseAnswer> {
    for (;;) {
      const suspect = this.#suspects.get(id);
      const child = suspect?.isAlone ? null : suspect ? this.#childOfSuspects() : this.#childWith(id);
      try {
        const answer = await (child?.pulse(id, target, this.#allowPrivate) ?? this.#pulseAlone(id, target));
        if (suspect && ++suspect.pulses >= CLEARED_AFTER) this.#clear(id);
        return answer;
      } catch (error) {
        const isLost = error instanceof PulseChildLost && !this.#hasEnded && this.#places.has(id);
        if (suspect) suspect.pulses = 0;
        if (!isLost || suspect?.isAlone || child?.isLost !== true) throw error;
        this.#suspects.set(id, { pulses: 0, isAlone: suspect !== undefined });
      }
    }
  }

  forget(id: number): void {
    const child = this.#places.get(id);
    this.#places.delete(id);
    child?.forget(id);
    this.#clear(id);
    if (child?.size === 0) {
      this.#children.delete(child);
      void child.end();
    }
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    const children = [...this.#children, this.#quarantine, this.#alone];
    await Promise.all(children.map((child) => child?.end()));
  }

  #childWith(id: number): PulseChild {
    const known = this.#places.get(id);
    if (known && !known.isLost) return known;
    for (const child of this.#children) if (child.isLost) this.#children.delete(child);
    const child = [...this.#children].find(({ size }) => size < MOST_CONNECTIONS) ?? this.#start();
    this.#children.add(child);
    this.#places.set(id, child);
    return child;
  }

  #childOfSuspects(): PulseChild {
    if (!this.#quarantine || this.#quarantine.isLost) this.#quarantine = this.#start();
    return this.#quarantine;
  }

  /** In turn, so that a child that is lost names the connection. Its session is not held: the next one needs the child. */
  #pulseAlone(id: number, target: Target): Promise<PulseAnswer> {
    const mine = this.#turn.then(async () => {
      if (!this.#alone || this.#alone.isLost) this.#alone = this.#start();
      const answer = await this.#alone.pulse(id, target, this.#allowPrivate);
      this.#alone.forget(id);
      return answer;
    });
    this.#turn = mine.catch(() => {});
    return mine;
  }

  #start(): PulseChild {
    if (this.#hasEnded) throw new PulseChildLost();
    return new PulseChild();
  }

  /** It is no suspect any more; children that no suspect needs end. */
  #clear(id: number): void {
    if (!this.#suspects.delete(id)) return;
    this.#quarantine?.forget(id);
    const suspects = [...this.#suspects.values()];
    if (!suspects.some(({ isAlone }) => !isAlone)) {
      void this.#quarantine?.end();
      this.#quarantine = null;
    }
    if (suspects.some(({ isAlone }) => isAlone)) return;
    this.#turn = this.#turn.then(() => {
      if ([...this.#suspects.values()].some(({ isAlone }) => isAlone)) return;
      void this.#alone?.end();
      this.#alone = null;
    });
  }
}
