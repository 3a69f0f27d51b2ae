import { LogAbsent } from '../activity/record-entry.ts';
import { Rejection } from '../platform/rejection.ts';
import { accountMoving } from '../store/directory/console-stores.ts';

/** The largest body that is read, in bytes: a chain of certificates and an SSH key have room. */
export const LARGEST_BODY = 64 * 1024;

export const internalError = new Rejection('internal_error', 'The service could not answer. Try again.');

/** Returns what the client is told about an error. */
export function toPublicError(error: unknown): Rejection {
  if (error instanceof Rejection) return error;
  // The account left the cell while the request waited there.
  if (error instanceof LogAbsent) return accountMoving;
  if (error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new Rejection('body_too_large', `Send ${LARGEST_BODY / 1024} KiB at most.`);
  }
  return internalError;
}
