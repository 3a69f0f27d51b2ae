import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Rejection } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import { requireStrong } from './password-strength.ts';

// OWASP's first choice of parameters for argon2id (Password Storage Cheat Sheet): 19 MiB, 2 passes, 1 lane.
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const LENGTH = 32;

/** The most hashes computed at the same time: each takes a core for tens of milliseconds, beside the requests. */
const AT_ONCE = 2;
/** The most that may wait; more are rejected. */
const MOST_WAITING = 100;

const SHORTEST = 12;
const LONGEST = 200;

/** A new password. {@link hashNewPassword} checks its strength (NIST SP 800-63B). */
export const NewPassword = Type.String({
  minLength: SHORTEST,
  maxLength: LONGEST,
  description: `Choose a password of ${SHORTEST} to ${LONGEST} characters.`,
});

/** A password to verify. */
export const GivenPassword = Type.String({
  minLength: 1,
  maxLength: LONGEST,
  description: 'Enter your password.',
});

let running = 0;
const waiting: (() => void)[] = [];

async function compute(password: string, nonce: Buffer, cost: typeof COST): Promise<Buffer> {
  if (running < AT_ONCE) {
    running += 1;
  } else {
    if (waiting.length >= MOST_WAITING) {
      throw new Rejection(
        'too_many_attempts',
        'Too many people are signing in. Try again in a few seconds.',
        {
          retryAfter: 5,
        },
      );
    }
    await new Promise<void>((resolve) => waiting.push(resolve)); // the next one to finish hands over its slot
  }
  try {
    // Normalised, so that the keyboard's composition does not matter.
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
 * Hashes a new password with argon2id, in the PHC string format. `beside` is the stored password of the same e-mail
 * address in another account; its salt is reused, so that a sign-in computes one hash for any number of accounts. Throws
 * 400 when it is easy to guess: see {@link requireStrong}.
 */
export async function hashNewPassword(
  password: string,
  {
    about,
    parameter,
    beside,
  }: { about: readonly (string | null)[]; parameter: string; beside: string | null },
): Promise<string> {
  await requireStrong(password, about, parameter);
  const stored = beside === null ? null : parse(beside);
  const nonce = stored !== null && isOfToday(stored) ? stored.nonce : randomBytes(16);
  const tag = await compute(password, nonce, COST);
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=([0-9]+),t=([0-9]+),p=([0-9]+)\$([0-9A-Za-z+/]+)\$([0-9A-Za-z+/]+)$/;

interface Stored {
  cost: typeof COST;
  nonce: Buffer;
  tag: Buffer;
}

function parse(phc: string): Stored | null {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = PHC.exec(phc) ?? [];
  if (memory === undefined) return null;
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { cost, nonce: Buffer.from(nonce, 'base64'), tag: Buffer.from(tag, 'base64') };
}

function isOfToday({ cost }: Stored): boolean {
  return cost.memory === COST.memory && cost.passes === COST.passes && cost.parallelism === COST.parallelism;
}

/**
 * The logins, all with one e-mail address, that have this password. It takes the same time for none, one and several,
 * because they share a salt.
 */
export async function whosePassword<Login extends { password: string }>(
  logins: readonly Login[],
  password: string,
): Promise<Login[]> {
  const tags = new Map<string, Promise<Buffer>>();
  const theirs: Login[] = [];
  for (const login of logins) {
    const stored = parse(login.password);
    if (stored === null) continue;
    const salt = login.password.slice(0, login.password.lastIndexOf('$'));
    const tag = tags.get(salt) ?? compute(password, stored.nonce, stored.cost);
    tags.set(salt, tag);
    if (timingSafeEqual(await tag, stored.tag)) theirs.push(login);
  }
  if (tags.size === 0) await compute(password, randomBytes(16), COST);
  return theirs;
}
