/** What is wrong with a request. The console maps each code to an HTTP status, the command line to an exit code. */
export type RejectionCode =
  | 'invalid_parameter'
  | 'unauthorized'
  | 'forbidden'
  | 'proof_needed'
  | 'not_found'
  | 'conflict'
  | 'choose_account'
  | 'body_too_large'
  | 'too_many_attempts'
  | 'internal_error';

/** A rejected request. `message` is a sentence that says what to do, and contains no secret. */
export class Rejection extends Error {
  readonly code: RejectionCode;
  /** The field or parameter of `invalid_parameter`. */
  readonly parameter: string | null;
  /** Seconds after which to try again, if known. */
  readonly retryAfter: number | null;
  /** The accounts to choose from, for `choose_account`. */
  readonly accounts: readonly { id: number; name: string }[] | null;

  constructor(
    code: RejectionCode,
    message: string,
    {
      parameter = null,
      retryAfter = null,
      accounts = null,
    }: Partial<Pick<Rejection, 'parameter' | 'retryAfter' | 'accounts'>> = {},
  ) {
    super(message);
    this.code = code;
    this.parameter = parameter;
    this.retryAfter = retryAfter;
    this.accounts = accounts;
  }
}

export const notFound = new Rejection(
  'not_found',
  'This does not exist in your account. It may have been removed.',
);

/** The account has nothing with the identifier that the message names. */
export class NotFound extends Rejection {
  constructor(message: string) {
    super('not_found', message);
  }
}

/** Somebody changed the resource after it was read for this change. */
export class EditConflict extends Error {}
