/** Every error code of the API (specification, section 7, and those of HTTP itself) with its HTTP status. */
export const STATUS = {
  bad_request: 400,
  invalid_parameter: 400,
  unauthorized: 401,
  invalid_api_key: 401,
  tier_insufficient: 403,
  not_found: 404,
  method_not_allowed: 405,
  uri_too_long: 414,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** An error that is sent to the client; `message` is one sentence that says what to do. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** The invalid parameter of a 400. */
  readonly parameter: string | null;

  constructor(code: ErrorCode, message: string, parameter: string | null = null) {
    super(message);
    this.code = code;
    this.parameter = parameter;
  }

  get status(): number {
    return STATUS[this.code];
  }

  /** The envelope of section 7. `retryAfter` in seconds, for rate_limited only. */
  envelope(retryAfter?: number): Buffer {
    const { code, message, parameter } = this;
    return Buffer.from(
      JSON.stringify({
        error: {
          code,
          message,
          ...(parameter === null ? {} : { parameter: parameter.toWellFormed() }),
          ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
        },
      }),
    );
  }
}

export const unauthorized = new ApiError(
  'unauthorized',
  'Send the API key in one header: "Authorization: Bearer <API_KEY>".',
);
export const invalidApiKey = new ApiError(
  'invalid_api_key',
  'This API key does not exist, has expired or was revoked: use a live key of your account.',
);
export const tierInsufficient = new ApiError(
  'tier_insufficient',
  "The account's plan does not include this endpoint: change the plan or use an endpoint that it includes.",
);
export const rateLimited = new ApiError(
  'rate_limited',
  'Too many requests: wait for as many seconds as Retry-After says, then go on.',
);
export const unknownPath = new ApiError(
  'not_found',
  'There is no such endpoint: /docs lists the eight that there are.',
);
export const resourceNotFound = new ApiError(
  'not_found',
  'There is no such resource in your account: check the identifier.',
);
export const methodNotAllowed = new ApiError('method_not_allowed', 'The API is read-only: use GET.');
export const internalError = new ApiError(
  'internal_error',
  'The service could not answer: try again, waiting longer each time.',
);
export const uriTooLong = new ApiError('uri_too_long', 'Shorten the URL to 8 KiB at most.');
export const headersTooLarge = new ApiError(
  'headers_too_large',
  'Shorten the request headers to 16 KiB at most.',
);
export const badRequest = new ApiError(
  'bad_request',
  'This is no well-formed HTTP request: check the client.',
);
