import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ConsoleParts, ConsoleRequest } from '../console/route.ts';
import type { SecretKeys } from '../database/encryption.ts';
import { cookie } from './cookie.ts';

// A browser in which somebody signed in by password is known for that login, and has attempts of its own: who guesses
// elsewhere can't keep its owner out (OWASP, "device cookies"). The password's hash is part of what is signed, so a new
// password ends all of them, and nothing is stored.

/** As long as browsers keep a cookie. */
const DAYS = 400;
/** Of several people, or accounts, at one browser. */
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

/** Of the logins those that the browser is known for, and SHA-256 of what identifies the browser; null = it is unknown. */
export function knownDevice(
  { parts, caller, reply }: Pick<ConsoleRequest, 'parts' | 'caller' | 'reply'>,
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

/** Makes the browser known for the logins: call it when their password was given. */
export function keepDevice(
  asked: Pick<ConsoleRequest, 'parts' | 'caller' | 'reply'>,
  logins: readonly PasswordLogin[],
): void {
  const [key] = asked.parts.secret;
  const tokens = logins.map(({ login_id, password }) => {
    const made = { login: String(login_id), nonce: randomBytes(16).toString('base64url') };
    return { ...made, signature: signatureOf(key, made, password).toString('base64url') };
  });
  const others = tokensOf(asked).filter(({ login }) => !tokens.some((token) => token.login === login));
  const value = [...tokens, ...others]
    .slice(0, MOST)
    .map(({ login, nonce, signature }) => `${login}~${nonce}~${signature}`)
    .join('.');
  const { name, attributes } = deviceCookie(asked);
  void asked.reply.header('set-cookie', `${name}=${value}; Max-Age=${DAYS * 86_400}; ${attributes}`);
}

function deviceCookie({ parts, caller }: Pick<ConsoleRequest, 'parts' | 'caller'>) {
  return cookie(caller.origin, parts.basePath, 'dbvitals_device', 'Strict');
}

function tokensOf(asked: Pick<ConsoleRequest, 'parts' | 'caller' | 'reply'>): Token[] {
  const start = `${deviceCookie(asked).name}=`;
  const pairs = (asked.reply.request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(start))?.slice(start.length) ?? '';
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
  return keys.some((key) => timingSafeEqual(signatureOf(key, token, password), given));
}

function signatureOf(
  key: ConsoleParts['secret'][number],
  { login, nonce }: Omit<Token, 'signature'>,
  phc: string,
): Buffer {
  const own = createHmac('sha256', key).update('known devices of the console').digest();
  return createHmac('sha256', own).update(`${login}\n${nonce}\n${phc}`).digest();
}
