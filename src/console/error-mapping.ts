import { NoConnection, RefusedConnection } from '../connections/connection-rejected.ts';
import { KeyRefusal, NoKey } from '../keys/key-refusal.ts';
import { EmailTaken } from '../members/change-member.ts';
import { NoSilence } from '../silences/add-silence.ts';
import { ConsoleError, notFound } from './errors.ts';

const emailTaken = new ConsoleError(
  'conflict',
  'The account already has a member with this e-mail address. Enter another one.',
  { parameter: 'email' },
);

/** Maps a rejected change to the error that the person sees; null for any other error. */
export function toConsoleError(error: unknown): ConsoleError | null {
  if (error instanceof NoConnection || error instanceof NoKey || error instanceof NoSilence) return notFound;
  if (error instanceof EmailTaken) return emailTaken;
  if (error instanceof KeyRefusal) return new ConsoleError('conflict', error.message);
  if (!(error instanceof RefusedConnection)) return null;
  return new ConsoleError('invalid_parameter', error.message, { parameter: error.setting });
}
