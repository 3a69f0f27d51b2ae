import { hash } from 'node:crypto';
import type * as Oidc from 'openid-client';
import type { SignOnSettings } from '../config/sign-on-settings.ts';
import { foldEmail } from '../members/email.ts';

/** How long the provider may take for an answer, in seconds. */
const TIMEOUT = 5;

const CALLBACK = '/console/api/sign-in/oidc/callback';

/** Who a provider says somebody is. */
export interface Person {
  /** Both together name them for ever (OpenID Connect Core 1.0, 5.7). */
  issuer: string;
  subject: string;
  /** ASCII in lower case; null = it names none, or none that it verified. */
  email: string | null;
}

/** The company's provider of single sign-on. */
export interface IdentityProvider {
  /** The origin that it sends browsers back to. */
  publicUrl: string;
  /** Where a browser that keeps `challenge` signs in. Throws {@link Unreachable}. */
  entrance(challenge: string): Promise<URL>;
  /**
   * Who came back, by the query of the address (`?code=…`) and the challenge that the browser kept. Throws
   * {@link Unreachable}, and whatever shows that the answer is not the one to this challenge.
   */
  person(challenge: string, query: string): Promise<Person>;
}

/** The provider gave no answer, or none that describes a provider. */
export class Unreachable extends Error {}

/** The provider of these settings, which is asked about itself when the first person signs in. */
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
    const oidc = await import('openid-client'); // 7 MB (measured), for those who use it
    const execute = [oidc.enableNonRepudiationChecks];
    if (issuer.startsWith('http:')) execute.push(oidc.allowInsecureRequests); // on this machine: see the settings
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

/** As the provider likes it: by the header where it says nothing (OpenID Connect Discovery 1.0, 3). */
function authenticate(oidc: typeof Oidc, secret: string): Oidc.ClientAuth {
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const by = methods.includes('client_secret_basic') ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
    by(secret)(server, ...rest);
  };
}

/** What must come back unguessed, made of the one secret that the browser keeps; 43 characters. */
function derived(what: string, challenge: string): string {
  return hash('sha256', `${what} ${challenge}`, 'base64url');
}

function unreachable(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const isSilent = error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT';
  throw isSilent ? new Unreachable('the provider did not answer', { cause: error }) : error;
}

// Some write it as a text. Microsoft's has no email_verified; its xms_edov says that the address's domain is the company's own.
const YES: unknown[] = [true, 'true', 1, '1'];

function verifiedEmail(told: Record<string, unknown>): string | null {
  const { email, email_verified: verified = told['xms_edov'] } = told;
  if (typeof email !== 'string' || email === '' || !YES.includes(verified)) return null;
  return foldEmail(email);
}
