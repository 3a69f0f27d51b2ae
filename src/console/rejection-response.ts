import { Rejection, type RejectionCode } from '../vocabulary/rejection.ts';

const STATUS: Record<RejectionCode, number> = {
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
};

/** The HTTP status of a rejection. */
export function statusOf({ code }: Rejection): number {
  return STATUS[code];
}

/**
 * The envelope of a rejection, as the API writes it: `{"error":{"code","message"}}`, with `parameter`, `retry_after` and
 * `accounts` if set.
 */
export function envelopeOf({ code, message, parameter, retryAfter, accounts }: Rejection): string {
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

export const internalError = new Rejection('internal_error', 'The service could not answer. Try again.');
