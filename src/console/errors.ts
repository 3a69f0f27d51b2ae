/** Every error code of the console's API with its HTTP status; the envelope is that of the API. */
const STATUS = {
  invalid_parameter: 400,
  unauthorized: 401,
  forbidden: 403,
  proof_needed: 403,
  not_found: 404,
  conflict: 409,
  choose_account: 409,
  body_too_large: 413,
  too_many_attempts: 429,
  internal_error: 500,
} as const;

/** An error that a person at the console sees; `message` says what is wrong and what to do. */
export class ConsoleError extends Error {
  readonly code: keyof typeof STATUS;
  /** The field or parameter that a 400 is about. */
  readonly parameter: string | null;
  /** Seconds to wait before a retry, if known. */
  readonly retryAfter: number | null;
  /** The accounts to choose from, of `choose_account`. */
  readonly accounts: readonly { id: number; name: string }[] | null;

  constructor(
    code: keyof typeof STATUS,
    message: string,
    {
      parameter = null,
      retryAfter = null,
      accounts = null,
    }: Partial<Pick<ConsoleError, 'parameter' | 'retryAfter' | 'accounts'>> = {},
  ) {
    super(message);
    this.code = code;
    this.parameter = parameter;
    this.retryAfter = retryAfter;
    this.accounts = accounts;
  }

  get status(): number {
    return STATUS[this.code];
  }

  /** `{"error":{"code","message"}}`, with `parameter`, `retry_after` and `accounts` if set. */
  envelope(): string {
    const { code, message, parameter, retryAfter, accounts } = this;
    return JSON.stringify({
      error: {
        code,
        message,
        ...(parameter === null ? {} : { parameter }),
        ...(retryAfter === null ? {} : { retry_after: retryAfter }),
        ...(accounts === null ? {} : { accounts }),
      },
    });
  }
}

export const signedOut = new ConsoleError('unauthorized', 'You are signed out. Sign in again.');
export const notFound = new ConsoleError(
  'not_found',
  'This does not exist in your account. It may have been removed.',
);
export const internalError = new ConsoleError('internal_error', 'The service could not answer. Try again.');

/** Required for changes of credentials: a stolen session must not gain access that outlives it. */
export const proofNeeded = new ConsoleError(
  'proof_needed',
  'This change requires a sign-in within the last 10 minutes. Confirm your identity, then try again.',
);

/** The error for a missing permission. */
export function lacking(permission: string): ConsoleError {
  return new ConsoleError(
    'forbidden',
    `You need the permission ${permission}, which none of your roles has. Ask an owner of the account.`,
  );
}
