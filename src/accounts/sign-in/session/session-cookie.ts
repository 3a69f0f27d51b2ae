import { cookie, cookieValues } from '../cookie.ts';
import type { SignInRequest } from '../sign-in-request.ts';

/** A session ends after this many days in any case (OWASP, Session Management). */
export const LONGEST_DAYS = 30;

function sessionCookie(origin: string, basePath: string) {
  return cookie(origin, basePath, 'dbvitals_session', 'Strict');
}

/** The token in the session cookie; null when there is none or more than one. */
export function readSessionToken(
  origin: string,
  basePath: string,
  cookies: string | undefined,
): string | null {
  const { name } = sessionCookie(origin, basePath);
  const found = cookieValues(cookies, name);
  return found.length === 1 && /^[\w-]{43}$/.test(found[0] ?? '') ? (found[0] ?? null) : null;
}

/** Sets the session cookie, or deletes it (null). */
export function setCookie({ caller, parts, reply }: SignInRequest, token: string | null): void {
  const { name, attributes } = sessionCookie(caller.origin, parts.basePath);
  const age = token === null ? 0 : LONGEST_DAYS * 86_400;
  void reply.header('set-cookie', `${name}=${token ?? ''}; Max-Age=${age}; ${attributes}`);
}
