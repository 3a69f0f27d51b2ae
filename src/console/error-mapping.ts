import { LogAbsent } from '../activity/record-entry.ts';
import { accountMoving } from '../cells/console-stores.ts';
import { EmailTaken } from '../members/member-row.ts';
import { NotFound, notFound, Rejection } from '../vocabulary/rejection.ts';

const emailTaken = new Rejection(
  'conflict',
  'The account already has a member with this e-mail address. Enter another one.',
  { parameter: 'email' },
);

/** A rejection as the console words it: without the identifiers that the command line names. */
export function toConsoleRejection(rejection: Rejection | LogAbsent): Rejection {
  // The account left the cell while the request waited there.
  if (rejection instanceof LogAbsent) return accountMoving;
  if (rejection instanceof NotFound) return notFound;
  return rejection instanceof EmailTaken ? emailTaken : rejection;
}
