import { hash } from 'node:crypto';
import type * as Oidc from 'openid-client';
import type { SignOnSettings } from '../../config/sign-on-settings.ts';
import { foldEmail } from '../members/email.ts';

/** The timeout for the provider's answers, in seconds. */
const TIMEOUT = 5;

const CALLBACK = '/console/api/sign-in/oidc/callback';

/** A person as identified by a provider. */
export interface Person {
  /** Together they identify the person permanently (OpenID Connect Core 1.0, 5.7). */
  issuer: string;
  subject: string;
  /** ASCII in lower case; null = no verified address. */
  email: string | null;
}

/** The company's single sign-on provider. */
export interface IdentityProvider {
  /** The origin to which it redirects browsers. */
  publicUrl: string;
  /** The provider's sign-in URL for a browser that stores `challenge`. Throws {@link Unreachable}. */
  entrance(challenge: string): Promise<URL>;
  /**
   * The person who came back, from the URL's query (`?code=…`) and the challenge that the browser stored. Throws {@link
   * Unreachable}, or another error when the answer does not match the challenge.
   */
  person(challenge: string, query: string): Promise<Person>;
}

/** The provider did not answer, or its answer does not describe a provider. */
export class Unreachable extends Error {}

/** The provider from the settings. Its metadata is fetched when the first person signs in. */
export function openIdentityProvider(
  { issuer, clientId, clientSecret, publicUrl }: SignOnSettings,
  basePath: string,
): IdentityProvider {
  const callback = publicUrl + basePath + CALLBACK;
  let known: Promise<{ oidc: typeof Oidc; provider: Oidc.Configuration }> | null = null;
  const discover = () => {
    known ??= discovered().catch((cause: unknown) => {
      known = null;
      throw new Unreachable(`${issuer} did not say where to sign in.`, { cause });
    });
    return known;
  };

  async function discovered() {
    const oidc = await import('openid-client'); // 7 MB (measured): loaded only when used
    const execute = [oidc.enableNonRepudiationChecks];
    if (issuer.startsWith('http:')) execute.push(oidc.allowInsecureRequests); // on this machine only: see the settings
    const options = { timeout: TIMEOUT, execute };
    const authentication = authenticate(oidc, clientSecret);
    return {
      oidc,
      provider: await oidc.discovery(new URL(issuer), clientId, undefined, authentication, options),
    };
  }

  return {
    publicUrl,
    async entrance(challenge) {
      const { oidc, provider } = await discover();
      return oidc.buildAuthorizationUrl(provider, {
        redirect_uri: callback,
        scope: 'openid email',
        state: derived('state', challenge),
        nonce: derived('nonce', challenge),
        code_challenge: hash('sha256', derived('code verifier', challenge), 'base64url'),
        code_challenge_method: 'S256',
      });
    },
    async person(challenge, query) {
      const { oidc, provider } = await discover();
      const tokens = await oidc
        .authorizationCodeGrant(provider, new URL(callback + query), {
          expectedState: derived('state', challenge),
          expectedNonce: derived('nonce', challenge),
          pkceCodeVerifier: derived('code verifier', challenge),
          idTokenExpected: true,
        })
        .catch(unreachable);
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the provider gave no ID token');
      const asks = claims['email'] === undefined && provider.serverMetadata().userinfo_endpoint !== undefined;
      const told = asks
        ? await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub).catch(unreachable)
        : claims;
      return { issuer: claims.iss, subject: claims.sub, email: verifiedEmail(told) };
    },
  };
}

/** The client authentication that the provider supports; by default in the header (OpenID Connect Discovery 1.0, 3). */
function authenticate(oidc: typeof Oidc, secret: string): Oidc.ClientAuth {
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const by = methods.includes('client_secret_basic') ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
    by(secret)(server, ...rest);
  };
}

/** A value that must come back and can't be guessed, derived from the browser's challenge; 43 characters. */
function derived(what: string, challenge: string): string {
  return hash('sha256', `${what} ${challenge}`, 'base64url');
}

function unreachable(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const isSilent = error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT';
  throw isSilent ? new Unreachable('the provider did not answer', { cause: error }) : error;
}

// Some providers send a string. Microsoft sends no email_verified; its xms_edov means that the company owns the address's
// domain.
const YES: unknown[] = [true, 'true', 1, '1'];

function verifiedEmail(told: Record<string, unknown>): string | null {
  const { email, email_verified: verified = told['xms_edov'] } = told;
  if (typeof email !== 'string' || email === '' || !YES.includes(verified)) return null;
  return foldEmail(email);
}
