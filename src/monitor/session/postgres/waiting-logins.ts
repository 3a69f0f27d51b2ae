import { OwnWords } from '../../../platform/text/own-words.ts';
import { unlessAborted } from '../dial.ts';
import type { OpenedSession } from '../session.ts';

/**
 * How long a login may wait before it is given up for another one: a proxy may have sent it to a server that is no more. So its
 * return is noticed after five minutes at most, and a lock gets at most twelve logins an hour.
 */
const FIRST_MS = 60_000;
const LONGEST_MS = 300_000;

/** A login on its way. */
export interface Login {
  session: Promise<OpenedSession>;
  /** Whether the server may have a process for it that stays when the client leaves. */
  staysOnServer(): boolean;
  end(reason: unknown): void;
}

/** The server took the connection, and does not answer the login. */
export class LoginUnanswered extends Error {
  override name = 'TimeoutError';
}

/** No login is tried: one that was not answered may still wait on the server. */
export class LoginsPaused extends OwnWords {
  constructor(minutesAgo: number, minutesLeft: number) {
    super(
      `it did not answer the login of ${minutesAgo} min ago, which may still wait there; the next login follows in ${minutesLeft} min`,
    );
  }
}

/**
 * The logins that were not answered yet, by place: a database of a server. PostgreSQL looks for its client only in statements, so a
 * login that waits for a lock on a catalogue stays on the server when its client leaves, for as long as the lock. Therefore each place
 * has one login at most, and the next try goes on waiting for it.
 */
export class WaitingLogins {
  readonly #logins = new Map<string, Login & { until: number; isOpen: boolean }>();
  /** How long the next login of a place may wait, if it is not the first. */
  readonly #patience = new Map<string, number>();

  get size(): number {
    return this.#logins.size;
  }

  /**
   * Resolves with the session of the login that waits at the place, or of a new one. Throws {@link LoginUnanswered} at the deadline if
   * it goes on waiting, and the reason of the deadline if it was ended.
   */
  async open(place: string, deadline: AbortSignal, start: () => Login): Promise<OpenedSession> {
    const login = this.#findWaiting(place) ?? this.#start(place, start);
    try {
      const session = await unlessAborted(login.session, deadline);
      this.#logins.delete(place);
      this.#patience.delete(place);
      return session;
    } catch (error) {
      if (!deadline.aborted) throw error;
      if (login.staysOnServer()) throw new LoginUnanswered();
      this.#logins.delete(place);
      login.end(deadline.reason);
      throw deadline.reason;
    }
  }

  /** Ends all of them. */
  end(): void {
    for (const { session, end } of this.#logins.values()) {
      end(new Error('the login is no longer needed'));
      session.then(
        (opened) => opened.close(),
        () => {},
      );
    }
    this.#logins.clear();
  }

  #findWaiting(place: string): Login | undefined {
    const login = this.#logins.get(place);
    if (!login || login.isOpen || performance.now() < login.until) return login;
    this.#logins.delete(place);
    login.end(new Error('the login waited too long'));
    this.#patience.set(place, Math.min(LONGEST_MS, 2 * (this.#patience.get(place) ?? FIRST_MS)));
    return undefined;
  }

  #start(place: string, start: () => Login): Login {
    const until = performance.now() + (this.#patience.get(place) ?? FIRST_MS);
    const login = { ...start(), until, isOpen: false };
    this.#logins.set(place, login);
    login.session.then(
      () => {
        login.isOpen = true;
      },
      () => {
        if (this.#logins.get(place) === login) this.#logins.delete(place);
      },
    );
    return login;
  }
}
