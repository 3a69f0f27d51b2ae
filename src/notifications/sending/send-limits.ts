/** What a request may take and give (docs/decisions/0068). */
export const LIMITS = {
  /** To resolve the host and connect, with TLS. */
  connectMs: 5_000,
  /** From the start to the status. */
  wholeMs: 15_000,
  /** From the status to the end of the answer: the status alone decides, so a slow body is cut. */
  bodyMs: 2_000,
  /** By how much the child may exceed these before it counts as hanging. */
  hangMs: 10_000,
  /** How long requests may finish when the service stops. */
  graceMs: 5_000,
  headerBytes: 16_384,
  /** Interim answers (1xx). */
  interim: 10,
  readBytes: 65_536,
  keptBytes: 4_096,
  /** How long vetted addresses and their connections are used. */
  addressMs: 60_000,
  /** How long an idle connection stays open. */
  idleMs: 4_000,
  retryAfterSeconds: 86_400,
};

/** A request took too long. `phase` is what it waited for. */
export class TooSlow extends Error {
  readonly phase: 'lookup' | 'connect' | 'answer';

  constructor(phase: TooSlow['phase']) {
    super(`too slow: ${phase}`);
    this.phase = phase;
  }
}

/** More interim answers (1xx) than any receiver needs. */
export class EndlessAnswer extends Error {}
