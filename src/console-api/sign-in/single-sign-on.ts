import { cookie, cookieValues } from '../../accounts/sign-in/cookie.ts';
import { type IdentityProvider, Unreachable } from '../../accounts/sign-in/identity-provider.ts';
import { OidcLoginRejected, oidcLogin } from '../../accounts/sign-in/oidc-login.ts';
import { isChallenge, newChallenge, useChallenge } from '../../accounts/sign-in/passkeys/challenges.ts';
import { startSession, startUnjoinedSession } from '../../accounts/sign-in/sessions.ts';
import { Rejection } from '../../platform/rejection.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { type ConsoleRequest, type ConsoleRoute, openRoute } from '../route.ts';

const PURPOSE = 'sign in by single sign-on';

// The path of a console page, which no browser reads as an address on another host. The browser checks the same pattern
// (parts/next-page.ts).
const PAGE = /^(?:\/[\w-]+)+\/?(?:[?#][!-~]*)?$/;
const LONGEST_PAGE = 1_000;

/** The ways to sign in besides password and passkey. */
export const SignInWays = Type.Object({ oidc: Type.Boolean() });
export type SignInWays = Static<typeof SignInWays>;

/**
 * The codes of `/sign-in?error=` when single sign-on failed. A code and not a sentence, because anyone can write such a
 * URL.
 */
export type SignOnError =
  | 'elsewhere'
  | 'expired'
  | 'failed'
  | 'not_invited'
  | 'taken'
  | 'unreachable'
  | 'unverified';

class SignOnRefused extends Error {
  readonly reason: SignOnError;

  constructor(reason: SignOnError) {
    super(`refused: ${reason}`);
    this.reason = reason;
  }
}

const unset = new Rejection(
  'not_found',
  'This service has no single sign-on. Sign in with a password or passkey.',
);

const showWays = openRoute({
  method: 'GET',
  path: '/sign-in',
  permission: 'anyone',
  response: SignInWays,
  async handler({ parts }) {
    return { oidc: parts.singleSignOn !== null };
  },
});

const begin = openRoute({
  method: 'GET',
  path: '/sign-in/oidc',
  permission: 'anyone',
  query: Type.Object({
    next: Type.Optional(
      Type.String({
        maxLength: LONGEST_PAGE,
        pattern: PAGE.source,
        description: 'Set next to the path of a console page, such as /tickets?status=open.',
      }),
    ),
  }),
  response: null,
  handler: (asked) => {
    const { next = null } = asked.query;
    return lead(asked, next, async (provider) => {
      // The cookie exists only at the origin to which the provider redirects.
      if (provider.publicUrl !== asked.caller.origin) throw new SignOnRefused('elsewhere');
      const challenge = newChallenge(asked.parts.secret, PURPOSE);
      const entrance = await provider.entrance(challenge);
      keep(asked, { challenge, next });
      return entrance.href;
    });
  },
});

const comeBack = openRoute({
  method: 'GET',
  path: '/sign-in/oidc/callback',
  permission: 'anyone',
  // Providers may add parameters, which must be ignored (RFC 6749, 4.1.2).
  query: Type.Object({}, { additionalProperties: true }),
  response: null,
  handler: (asked) => {
    const { challenge, next } = keptBy(asked);
    return lead(asked, next, async (provider) => {
      const { parts, reply } = asked;
      keep(asked, null);
      if (challenge === null || !isChallenge(parts.secret, PURPOSE, challenge)) {
        throw new SignOnRefused('expired');
      }
      const { search } = new URL(reply.request.url, provider.publicUrl);
      const person = await provider.person(challenge, search);
      if (!(await useChallenge(parts.control, challenge))) throw new SignOnRefused('expired');
      const { loginId, acts, isInvited } = await oidcLogin(parts, person);
      const { email: provedEmail } = person;
      if (acts) await startSession(asked, loginId, { by: 'oidc' }, { provedEmail });
      else await startUnjoinedSession(asked, loginId, provedEmail);
      const toAnswer = next === null ? '/invitations' : `/invitations?${new URLSearchParams({ next })}`;
      return parts.basePath + (acts && !isInvited ? (next ?? '/') : toAnswer);
    });
  },
});

/** Redirects the browser to the result of `where`, or to the sign-in page with an error code and `next`. */
async function lead(
  asked: ConsoleRequest,
  next: string | null,
  where: (provider: IdentityProvider) => Promise<string>,
) {
  const { parts, caller, reply } = asked;
  if (parts.singleSignOn === null) throw unset;
  try {
    return reply.redirect(await where(parts.singleSignOn), 302);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'failed' || reason === 'unreachable') {
      const line = { reason, request_id: caller.requestId, ...toldOf(error) };
      parts.requestLog.failed(line, 'single sign-on failed');
    }
    const told = new URLSearchParams({ error: reason, ...(next !== null && { next }) });
    return reply.redirect(`${parts.basePath}/sign-in?${told}`, 302);
  }
}

function reasonOf(error: unknown): SignOnError {
  if (error instanceof SignOnRefused || error instanceof OidcLoginRejected) return error.reason;
  if (error instanceof Unreachable) return 'unreachable';
  if (error instanceof Rejection && ['forbidden', 'unauthorized'].includes(error.code)) return 'not_invited'; // from startSession: no active membership
  return 'failed';
}

/** Not the error itself: protocol errors contain data of the provider. */
function toldOf(error: unknown): Record<string, string | undefined> {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return { error: error.stack ?? error.message, cause };
}

// Lax, not strict like the session's: the provider's page links here. The cookie binds the answer to the browser that
// started the sign-in.
function cookieOf({ caller, parts }: ConsoleRequest): { name: string; attributes: string } {
  return cookie(caller.origin, parts.basePath, 'dbvitals_sign_on', 'Lax');
}

function keep(asked: ConsoleRequest, kept: { challenge: string; next: string | null } | null): void {
  const { name, attributes } = cookieOf(asked);
  const next = kept?.next ? `.${Buffer.from(kept.next).toString('base64url')}` : '';
  const value = `${name}=${kept?.challenge ?? ''}${next}; Max-Age=${kept === null ? 0 : 300}`;
  void asked.reply.header('set-cookie', `${value}; ${attributes}`);
}

/** What the browser stored. `next` is validated again, because only the challenge is signed. */
function keptBy(asked: ConsoleRequest): { challenge: string | null; next: string | null } {
  const found = cookieValues(asked.reply.request.headers.cookie, cookieOf(asked).name);
  if (found.length !== 1) return { challenge: null, next: null };
  const [challenge = '', encoded = ''] = (found[0] ?? '').split('.');
  const next = Buffer.from(encoded, 'base64url').toString();
  return { challenge, next: next.length <= LONGEST_PAGE && PAGE.test(next) ? next : null };
}

/** Sign-in with the company's OpenID Connect provider. */
export const singleSignOnRoutes: ConsoleRoute[] = [showWays, begin, comeBack];
