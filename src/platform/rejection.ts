/** Each error code with its HTTP status: those of the API (specification, section 7), of HTTP itself, and of the console. */
const STATUS = {
  bad_request: 400,
  invalid_parameter: 400,
  unauthorized: 401,
  invalid_api_key: 401,
  tier_insufficient: 403,
  origin_not_allowed: 403,
  forbidden: 403,
  proof_needed: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  choose_account: 409,
  body_too_large: 413,
  uri_too_long: 414,
  rate_limited: 429,
  too_many_attempts: 429,
  headers_too_large: 431,
  internal_error: 500,
} as const;

/** What is wrong with a request. API and console answer with the status of the code, the command line with an exit code. */
export type ErrorCode = keyof typeof STATUS;

export const ERROR_CODES = Object.keys(STATUS) as ErrorCode[];

/** What a rejection says besides its code and message. */
interface Details {
  /** The field or parameter of `invalid_parameter`. */
  parameter: string | null;
  /** Seconds after which to try again, if known. */
  retryAfter: number | null;
  /** The accounts to choose from, for `choose_account`. */
  accounts: readonly { id: number; name: string }[] | null;
  /** What the console says instead, if `message` names identifiers that only the command line shows. */
  publicMessage: string;
}

/** A rejected request. `message` is a sentence that says what to do, and contains no secret. */
export class Rejection extends Error implements Details {
  readonly code: ErrorCode;
  readonly parameter: Details['parameter'];
  readonly retryAfter: Details['retryAfter'];
  readonly accounts: Details['accounts'];
  readonly publicMessage: string;

  constructor(code: ErrorCode, message: string, details: Partial<Details> = {}) {
    super(message);
    this.code = code;
    this.parameter = details.parameter ?? null;
    this.retryAfter = details.retryAfter ?? null;
    this.accounts = details.accounts ?? null;
    this.publicMessage = details.publicMessage ?? message;
  }

  get status(): number {
    return STATUS[this.code];
  }

  /** The envelope of section 7: `{"error":{"code","message"}}`, with `parameter`, `retry_after` and `accounts` if set. */
  envelope(retryAfter = this.retryAfter): Buffer {
    const { code, publicMessage: message, parameter, accounts } = this;
    const body = {
      error: {
        code,
        message,
        ...(parameter !== null && { parameter: parameter.toWellFormed() }),
        ...(retryAfter !== null && { retry_after: retryAfter }),
        ...(accounts !== null && { accounts }),
      },
    };
    return Buffer.from(JSON.stringify(body));
  }
}

/** A value that is not allowed. `parameter` is its name in the console's API, such as `ca_certificate`. */
export function invalidParameter(parameter: string, message: string): Rejection {
  return new Rejection('invalid_parameter', message, { parameter });
}

/** Something else is in the way. */
export function conflict(parameter: string | null, message: string): Rejection {
  return new Rejection('conflict', message, { parameter });
}

const UNKNOWN = 'This does not exist in your account. It may have been removed.';

/**
 * The account has no such thing. The command line reads which one, and `hint`, such as `: see "alert list".`; the console
 * never does.
 */
export function notFound(kind?: string, id?: number, hint = '.'): Rejection {
  const message = kind === undefined ? UNKNOWN : `There is no ${kind} ${id}${hint}`;
  return new Rejection('not_found', message, { publicMessage: UNKNOWN });
}

/** Somebody changed the resource after it was read for this change. */
export class EditConflict extends Error {}
