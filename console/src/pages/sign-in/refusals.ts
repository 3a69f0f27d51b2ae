import type { SignOnError } from '../../../../src/console/sign-in/single-sign-on.ts';

/** What single sign-on says by a code in the address: a sentence there could be anyone's. */
export const REFUSALS: Record<SignOnError, string> = {
  expired: 'It took more than five minutes, or was begun in another browser: sign in again.',
  not_invited:
    'No account lets you in: ask an administrator to invite the e-mail address that your provider has of you, or to let you act again.',
  unverified: 'Your provider does not say that your e-mail address is verified: ask whoever runs it.',
  taken:
    'Your e-mail address belonged to another person of your provider: ask an administrator to remove that member and to invite you again.',
  elsewhere:
    'Single sign-on works at the public address of the service only (DBVITALS_PUBLIC_URL): open the console there.',
  unreachable: 'Your provider did not answer: try again, or use a password.',
  failed: 'Your provider refused: try again, or ask whoever runs it.',
};

export type Refusal = SignOnError;

export function isRefusal(code: string | undefined): code is Refusal {
  return code !== undefined && Object.hasOwn(REFUSALS, code);
}
