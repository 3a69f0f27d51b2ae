import type { SignOnError } from '../../../../src/console-api/sign-in/single-sign-on.ts';

/**
 * The messages for the error codes of single sign-on. The URL carries a code because anyone could put a sentence there.
 */
export const SIGN_ON_ERRORS: Record<SignOnError, string> = {
  expired: 'The sign-in took more than five minutes, or it was started in another browser. Sign in again.',
  not_invited:
    'No account has invited you. Ask an administrator to invite the e-mail address that your identity provider has for you, or to reactivate you.',
  unverified: 'Your identity provider has not verified your e-mail address. Ask its administrator.',
  taken:
    'Your e-mail address belonged to another person at your identity provider. Ask an administrator to remove that member and invite you again.',
  elsewhere:
    'Single sign-on works only at the public address of the service (DBVITALS_PUBLIC_URL). Open the console there.',
  unreachable: 'Your identity provider did not answer. Try again, or use a password.',
  failed: 'Your identity provider refused the sign-in. Try again, or ask its administrator.',
};

export type Refusal = SignOnError;

export function isSignOnError(code: string | undefined): code is Refusal {
  return code !== undefined && Object.hasOwn(SIGN_ON_ERRORS, code);
}
