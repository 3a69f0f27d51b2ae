import { type Static, Type } from 'typebox';
import { isChallenge, newChallenge, useChallenge } from './challenges.ts';
import { cookie } from './cookie.ts';
import { ConsoleError } from './errors.ts';
import { type IdentityProvider, Unreachable } from './identity-provider.ts';
import { loginOfPerson, NoLogin } from './person-login.ts';
import { type Asked, type ConsoleRoute, openRoute } from './route.ts';
import { startSession } from './sessions.ts';

const PURPOSE = 'sign in by single sign-on';

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
  'This service has no single sign-on: sign in by password or passkey.',
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
  response: null,
  handler: (asked) =>
    lead(asked, async (provider) => {
      // Only the address that it sends browsers back to has the cookie then.
      if (provider.publicUrl !== asked.caller.origin) throw new SignOnRefused('elsewhere');
      const challenge = newChallenge(asked.parts.secret, PURPOSE);
      const entrance = await provider.entrance(challenge);
      keep(asked, challenge);
      return entrance.href;
    }),
});

const comeBack = openRoute({
  method: 'GET',
  path: '/sign-in/oidc/callback',
  permission: 'anyone',
  // Providers add parameters of their own, which are to be ignored (RFC 6749, 4.1.2).
  query: Type.Object({}, { additionalProperties: true }),
  response: null,
  handler: (asked) =>
    lead(asked, async (provider) => {
      const { parts, reply } = asked;
      const challenge = keptBy(asked);
      keep(asked, null);
      if (challenge === null || !isChallenge(parts.secret, PURPOSE, challenge)) {
        throw new SignOnRefused('expired');
      }
      const { search } = new URL(reply.request.url, provider.publicUrl);
      const person = await provider.person(challenge, search);
      if (!(await useChallenge(parts.writer, challenge))) throw new SignOnRefused('expired');
      await startSession(asked, await loginOfPerson(parts.writer, person), 'oidc');
      return `${parts.basePath}/`;
    }),
});

/** Sends the browser where `where` says, or to the sign-in page with what went wrong. */
async function lead(asked: Asked, where: (provider: IdentityProvider) => Promise<string>) {
  const { parts, caller, reply } = asked;
  if (parts.singleSignOn === null) throw unset;
  try {
    return reply.redirect(await where(parts.singleSignOn), 302);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'failed' || reason === 'unreachable') {
      parts.log.warn({ reason, request_id: caller.requestId, ...toldOf(error) }, 'single sign-on failed');
    }
    return reply.redirect(`${parts.basePath}/sign-in?error=${reason}`, 302);
  }
}

function reasonOf(error: unknown): SignOnError {
  if (error instanceof SignOnRefused || error instanceof NoLogin) return error.reason;
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
function cookieOf({ caller, parts }: Asked): { name: string; attributes: string } {
  return cookie(caller.origin, parts.basePath, 'dbvitals_sign_on', 'Lax');
}

function keep(asked: Asked, challenge: string | null): void {
  const { name, attributes } = cookieOf(asked);
  const value = `${name}=${challenge ?? ''}; Max-Age=${challenge === null ? 0 : 300}`;
  void asked.reply.header('set-cookie', `${value}; ${attributes}`);
}

function keptBy(asked: Asked): string | null {
  const start = `${cookieOf(asked).name}=`;
  const cookies = (asked.reply.request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const found = cookies.filter((pair) => pair.startsWith(start));
  return found.length === 1 ? (found[0] ?? '').slice(start.length) : null;
}

/** Sign-in by the company's OpenID Connect provider. */
export const singleSignOnRoutes: ConsoleRoute[] = [showWays, begin, comeBack];
