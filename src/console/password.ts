import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Type } from 'typebox';
import { ConsoleError } from './errors.ts';
import { requireStrong } from './password-strength.ts';

// OWASP's first choice of parameters for argon2id (Password Storage Cheat Sheet): 19 MiB, 2 passes, 1 lane.
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const LENGTH = 32;

/** So many are computed at once: each takes a core for tens of milliseconds, and requests are answered beside them. */
const AT_ONCE = 2;
/** So many may wait for it; more are turned away. */
const MOST_WAITING = 100;

const SHORTEST = 12;
const LONGEST = 200;

/** A password that a person chooses. Of its strength {@link hashNewPassword} judges (NIST SP 800-63B). */
export const NewPassword = Type.String({
  minLength: SHORTEST,
  maxLength: LONGEST,
  description: `Choose a password of ${SHORTEST} to ${LONGEST} characters.`,
});

/** A password that is to be checked. */
export const GivenPassword = Type.String({
  minLength: 1,
  maxLength: LONGEST,
  description: 'Give your password.',
});

let running = 0;
const waiting: (() => void)[] = [];

async function compute(password: string, nonce: Buffer, cost: typeof COST): Promise<Buffer> {
  if (running < AT_ONCE) {
    running += 1;
  } else {
    if (waiting.length >= MOST_WAITING) {
      throw new ConsoleError('too_many_attempts', 'Too many sign in at once: try again in a few seconds.', {
        retryAfter: 5,
      });
    }
    await new Promise<void>((resolve) => waiting.push(resolve)); // whoever ends leaves its place to this one
  }
  try {
    // The same password, however the keyboard composed it.
    const message = Buffer.from(password.normalize('NFKC'));
    return await promisify(argon2)('argon2id', { message, nonce, tagLength: LENGTH, ...cost });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/**
 * A new password as it is stored: argon2id, in the PHC string format. Throws 400 when it is easy to guess: see
 * {@link requireStrong}.
 */
export async function hashNewPassword(
  password: string,
  about: readonly (string | null)[],
  parameter: string,
): Promise<string> {
  await requireStrong(password, about, parameter);
  const nonce = randomBytes(16);
  const tag = await compute(password, nonce, COST);
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=([0-9]+),t=([0-9]+),p=([0-9]+)\$([0-9A-Za-z+/]+)\$([0-9A-Za-z+/]+)$/;

/** Whether the password is the one stored as `phc`. Where there is none (null) it takes the same time to say no. */
export async function isPassword(phc: string | null, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = PHC.exec(phc ?? '') ?? [];
  if (memory === undefined) {
    await compute(password, randomBytes(16), COST);
    return false;
  }
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return timingSafeEqual(
    await compute(password, Buffer.from(nonce, 'base64'), cost),
    Buffer.from(tag, 'base64'),
  );
}
