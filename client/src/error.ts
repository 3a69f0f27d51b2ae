/** What the API says of a failed request. */
export type ApiErrorCode =
  | 'bad_request'
  | 'invalid_parameter'
  | 'unauthorized'
  | 'invalid_api_key'
  | 'tier_insufficient'
  | 'not_found'
  | 'method_not_allowed'
  | 'uri_too_long'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error';

/**
 * What the client itself finds: a wrong option; no connection, or no answer in time; an answer that leads elsewhere, that
 * is not the API's, or that ends too early; a log that lacks entries.
 */
export type ClientErrorCode =
  | 'invalid_option'
  | 'unreachable'
  | 'redirected'
  | 'not_dbvitals'
  | 'cut_short'
  | 'entry_missing';

/** The set is open: the API may add codes. */
export type ErrorCode = ApiErrorCode | ClientErrorCode | (string & {});

/** What is known of a failure. */
export interface ErrorDetails {
  /** The HTTP status; null when there was no answer. */
  status?: number | null;
  /** `X-Request-Id`: quote it when you ask for help. Null when there was none. */
  requestId?: string | null;
  /** Seconds to wait, of a 429 or 503; else null. */
  retryAfter?: number | null;
  /** The parameter that a 400 is about; else null. */
  parameter?: string | null;
  cause?: unknown;
}

/** Every failure of the client but an abort. `message` is one sentence that says what to do; the key is never in it. */
export class DbvitalsError extends Error implements Omit<Required<ErrorDetails>, 'cause'> {
  override readonly name = 'DbvitalsError';
  readonly code: ErrorCode;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
  readonly parameter: string | null;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : {});
    this.code = code;
    this.status = details.status ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfter = details.retryAfter ?? null;
    this.parameter = details.parameter ?? null;
  }

  /** Whether the same request may succeed later: no connection, a cut answer, or a status of 500 and over. */
  get passing(): boolean {
    return this.code === 'unreachable' || this.code === 'cut_short' || (this.status ?? 0) >= 500;
  }
}
