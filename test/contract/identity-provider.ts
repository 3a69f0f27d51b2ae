import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { freePort } from './free-port.ts';
import type { Environment } from './running-service.ts';

/** An OpenID Connect provider with one client, and its people. */
export interface RunningProvider {
  /** Such as http://127.0.0.1:40123. */
  issuer: string;
  clientSecret: string;
  /** By subject; may be changed at any time. */
  people: Map<string, { email: string; email_verified?: unknown; xms_edov?: unknown }>;
  close(): Promise<void>;
}

/** Starts a provider for a service that is started next, with these settings. */
export async function startSignOn(): Promise<{
  provider: RunningProvider;
  /** Of the service. */
  origin: string;
  settings: Environment;
}> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const provider = await startProvider(`${origin}/console/api/sign-in/oidc/callback`);
  const settings = {
    PORT: String(port),
    DBVITALS_PUBLIC_URL: origin,
    DBVITALS_OIDC_ISSUER: provider.issuer,
    DBVITALS_OIDC_CLIENT_ID: 'dbvitals',
    DBVITALS_OIDC_CLIENT_SECRET: provider.clientSecret,
  };
  return { provider, origin, settings };
}

/**
 * Starts a provider whose client is "dbvitals"; it lets anybody of its people in by their subject, with any password. It tells
 * of them when it is asked about them, or `inIdToken`.
 */
export async function startProvider(
  redirectUri: string,
  { port = 0, inIdToken = false, clientSecret = randomBytes(24).toString('base64url') } = {},
): Promise<RunningProvider> {
  const people: RunningProvider['people'] = new Map();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'dbvitals', client_secret: clientSecret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified', 'xms_edov'] },
    conformIdTokenClaims: !inIdToken,
    ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    findAccount: (_context, sub) => {
      const account = people.get(sub);
      return account && { accountId: sub, claims: () => ({ sub, ...account }) };
    },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  return { issuer, clientSecret, people, close: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** How a browser went through the provider: the address at which it came back to the service, which it has not opened yet. */
export async function signInAt(entrance: string, subject: string): Promise<URL> {
  const jar = new Map<string, string>();
  const issuer = new URL(entrance).origin;
  let next = new URL(entrance);
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 12; step += 1) {
    const answer: Response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: form }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    form = null;
    const location = answer.headers.get('location');
    if (location !== null) {
      next = new URL(location, next);
      if (next.origin !== issuer) return next;
      continue;
    }
    const page = await answer.text();
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
    const [, abort = ''] = /href="([^"]+\/abort)"/.exec(page) ?? [];
    const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
    if (action === undefined)
      throw new Error(`The provider answered ${answer.status}: ${page.slice(0, 2_000)}`);
    if (subject === '') next = new URL(abort, next);
    else {
      next = new URL(action, next);
      form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: subject, password: 'any' }) });
    }
  }
  throw new Error('The provider leads in circles.');
}
