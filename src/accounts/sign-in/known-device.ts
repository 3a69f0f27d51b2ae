import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SecretKeys } from '../../platform/encryption.ts';
import { cookie, cookieValues } from './cookie.ts';
import type { SignInRequest } from './sign-in-request.ts';

// A browser in which a person signed in with a password is a known device for that login and has its own attempts, so
// that guesses from elsewhere can't lock the owner out (OWASP, "device cookies"). The signature covers the password's
// hash, so a new password invalidates all of them. Nothing is stored.

/** The longest time that browsers keep a cookie. */
const DAYS = 400;
/** The most logins per browser. */
const MOST = 5;

/** A login as it is stored. */
export interface PasswordLogin {
  login_id: number;
  /** The PHC string. */
  password: string;
}

interface Token {
  login: string;
  nonce: string;
  signature: string;
}

/** The logins for which this browser is a known device, and the SHA-256 of its id; null = unknown device. */
export function knownDevice(
  { parts, caller, reply }: SignInRequest,
  logins: readonly PasswordLogin[],
): { device: Buffer | null; logins: number[] } {
  const known = tokensOf({ parts, caller, reply }).flatMap((token) =>
    logins
      .filter((login) => String(login.login_id) === token.login && isSigned(parts.secret, token, login))
      .map(({ login_id }) => ({ login_id, nonce: token.nonce })),
  );
  const [first] = known;
  return {
    device: first ? hash('sha256', first.nonce, 'buffer') : null,
    logins: known.map(({ login_id }) => login_id),
  };
}

/** Makes the browser a known device for the logins. Call it after a correct password. */
export function keepDevice(asked: SignInRequest, logins: readonly PasswordLogin[]): void {
  const [key] = asked.parts.secret;
  const tokens = logins.map(({ login_id, password }) => {
    const made = { login: String(login_id), nonce: randomBytes(16).toString('base64url') };
    return { ...made, signature: signDevice(key, made, password).toString('base64url') };
  });
  const others = tokensOf(asked).filter(({ login }) => !tokens.some((token) => token.login === login));
  const value = [...tokens, ...others]
    .slice(0, MOST)
    .map(({ login, nonce, signature }) => `${login}~${nonce}~${signature}`)
    .join('.');
  const { name, attributes } = deviceCookie(asked);
  void asked.reply.header('set-cookie', `${name}=${value}; Max-Age=${DAYS * 86_400}; ${attributes}`);
}

function deviceCookie({ parts, caller }: Pick<SignInRequest, 'parts' | 'caller'>) {
  return cookie(caller.origin, parts.basePath, 'dbvitals_device', 'Strict');
}

function tokensOf(asked: SignInRequest): Token[] {
  const [value = ''] = cookieValues(asked.reply.request.headers.cookie, deviceCookie(asked).name);
  return value
    .split('.')
    .slice(0, MOST)
    .flatMap((text) => {
      const [, login, nonce, signature] = /^(\d{1,16})~([\w-]{22})~([\w-]{43})$/.exec(text) ?? [];
      return login && nonce && signature ? [{ login, nonce, signature }] : [];
    });
}

function isSigned(keys: SecretKeys, token: Token, { password }: PasswordLogin): boolean {
  const given = Buffer.from(token.signature, 'base64url');
  return keys.some((key) => timingSafeEqual(signDevice(key, token, password), given));
}

function signDevice(
  key: SecretKeys[number],
  { login, nonce }: Omit<Token, 'signature'>,
  phc: string,
): Buffer {
  const own = createHmac('sha256', key).update('known devices of the console').digest();
  return createHmac('sha256', own).update(`${login}\n${nonce}\n${phc}`).digest();
}
