import { type Static, Type } from 'typebox';
import { isChallenge, newChallenge, useChallenge } from '../../sign-in/challenges.ts';
import { cookie } from '../../sign-in/cookie.ts';
import { type IdentityProvider, Unreachable } from '../../sign-in/identity-provider.ts';
import { OidcLoginRejected, oidcLogin } from '../../sign-in/oidc-login.ts';
import { startSession, startUnjoinedSession } from '../../sign-in/sessions.ts';
import { ConsoleError } from '../errors.ts';
import { type ConsoleRequest, type ConsoleRoute, openRoute } from '../route.ts';

const PURPOSE = 'sign in by single sign-on';

// A page of the console, and no address that a browser could take for another host's; the console has the same (parts/next-page.ts).
const PAGE = /^(?:\/[\w-]+)+\/?(?:[?#][!-~]*)?$/;
const LONGEST_PAGE = 1_000;

/** How somebody may sign in besides by password and passkey. */
export const SignInWays = Type.Object({ oidc: Type.Boolean() });
export type SignInWays = Static<typeof SignInWays>;

/**
 * What `/sign-in?error=` tells when single sign-on led to no session. A word and no sentence, for anybody may write such an
 * address and have the page say it.
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

const unset = new ConsoleError(
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
      // Only the address that it sends browsers back to has the cookie then.
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
  // Providers add parameters of their own, which are to be ignored (RFC 6749, 4.1.2).
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
      if (!(await useChallenge(parts.writer, challenge))) throw new SignOnRefused('expired');
      const { loginId, acts, isInvited } = await oidcLogin(parts.writer, person);
      const { email: provedEmail } = person;
      if (acts) await startSession(asked, loginId, 'oidc', { provedEmail });
      else await startUnjoinedSession(asked, loginId, provedEmail);
      const toAnswer = next === null ? '/invitations' : `/invitations?${new URLSearchParams({ next })}`;
      return parts.basePath + (acts && !isInvited ? (next ?? '/') : toAnswer);
    });
  },
});

/** Sends the browser where `where` says, or to the sign-in page with what went wrong, from which `next` is still ahead. */
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
      parts.log.warn({ reason, request_id: caller.requestId, ...toldOf(error) }, 'single sign-on failed');
    }
    const told = new URLSearchParams({ error: reason, ...(next !== null && { next }) });
    return reply.redirect(`${parts.basePath}/sign-in?${told}`, 302);
  }
}

function reasonOf(error: unknown): SignOnError {
  if (error instanceof SignOnRefused || error instanceof OidcLoginRejected) return error.reason;
  if (error instanceof Unreachable) return 'unreachable';
  if (error instanceof ConsoleError && error.code === 'forbidden') return 'not_invited'; // of startSession: active nowhere
  return 'failed';
}

/** Not the error itself: those of the protocol carry what the provider sent. */
function toldOf(error: unknown): Record<string, string | undefined> {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return { error: error.stack ?? error.message, cause };
}

// Lax and not strict as the session's: the provider's page leads here. It binds the answer to the browser that asked.
function cookieOf({ caller, parts }: ConsoleRequest): { name: string; attributes: string } {
  return cookie(caller.origin, parts.basePath, 'dbvitals_sign_on', 'Lax');
}

function keep(asked: ConsoleRequest, kept: { challenge: string; next: string | null } | null): void {
  const { name, attributes } = cookieOf(asked);
  const next = kept?.next ? `.${Buffer.from(kept.next).toString('base64url')}` : '';
  const value = `${name}=${kept?.challenge ?? ''}${next}; Max-Age=${kept === null ? 0 : 300}`;
  void asked.reply.header('set-cookie', `${value}; ${attributes}`);
}

/** What the browser kept; where it leads to is looked at again, for only the challenge is signed. */
function keptBy(asked: ConsoleRequest): { challenge: string | null; next: string | null } {
  const start = `${cookieOf(asked).name}=`;
  const cookies = (asked.reply.request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const found = cookies.filter((pair) => pair.startsWith(start));
  if (found.length !== 1) return { challenge: null, next: null };
  const [challenge = '', encoded = ''] = (found[0] ?? '').slice(start.length).split('.');
  const next = Buffer.from(encoded, 'base64url').toString();
  return { challenge, next: next.length <= LONGEST_PAGE && PAGE.test(next) ? next : null };
}

/** Sign-in by the company's OpenID Connect provider. */
export const singleSignOnRoutes: ConsoleRoute[] = [showWays, begin, comeBack];
