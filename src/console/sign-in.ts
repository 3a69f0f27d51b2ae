import type pg from 'pg';
import { Type } from 'typebox';
import { changeAccount } from '../activity/record-entry.ts';
import { readOwn } from '../database/read.ts';
import { hashToken } from '../team/record-link.ts';
import { attempt } from './attempts.ts';
import { ConsoleError } from './errors.ts';
import { GivenPassword, isPassword } from './password.ts';
import { type Caller, type ConsoleParts, type ConsoleRoute, openRoute } from './route.ts';
import { actorOf, setCookie, startSession } from './sessions.ts';

export const Email = Type.String({
  maxLength: 200,
  // No control characters and no lone surrogates: the store holds neither.
  pattern: String.raw`^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$`,
  description: 'Give an e-mail address, such as ada@example.com.',
});

const byEmail = `
  select login_id, password from login where lower(email) = lower($1)`;

const memberships = `
  select account_id, member_id, name from member where login_id = $1 and status = 'active' order by account_id`;

const wrong = new ConsoleError(
  'unauthorized',
  'The e-mail address or the password is wrong: try again, or ask an administrator for a new link.',
);

/** The login of an e-mail address, if that is its password; a wrong one is counted and recorded. Null when it is wrong. */
export async function proveByPassword(
  parts: ConsoleParts,
  caller: Caller,
  { email, password }: { email: string; password: string },
): Promise<number | null> {
  const { address } = caller;
  return attempt(parts.writer, { address, email }, async () => {
    const { rows } = await parts.writer.query<{ login_id: number; password: string | null }>(byEmail, [
      email,
    ]);
    const [login] = rows;
    if (await isPassword(login?.password ?? null, password)) return login?.login_id ?? null;
    if (login) recordFailure(parts, caller, login.login_id);
    return null;
  });
}

/** Not waited for: the answer would come later where the address is somebody's. */
function recordFailure({ writer, reader, log }: ConsoleParts, caller: Caller, loginId: number): void {
  const record = async () => {
    const rows = await readOwn(reader, loginId, (run) =>
      run<{ account_id: number; member_id: number; name: string }>(memberships, [loginId]),
    );
    for (const { account_id, ...member } of rows) {
      await changeAccount(writer, account_id, async ({ record }) => {
        const { address, userAgent } = caller;
        // Nobody knows who it was: the member is whom somebody tried to sign in as.
        const from = { source_ip: address, user_agent: userAgent };
        record('member_sign_in_failed', '/sign-in', { actor: 'unknown', ...member, ...from });
      });
    }
  };
  record().catch((error) =>
    log.error({ err: error }, 'an attempt to sign in that failed could not be recorded'),
  );
}

const signIn = openRoute({
  method: 'POST',
  path: '/sign-in',
  permission: 'anyone',
  body: Type.Object({ email: Email, password: GivenPassword }),
  response: null,
  async handler(asked) {
    const login = await proveByPassword(asked.parts, asked.caller, asked.body);
    if (login === null) throw wrong;
    await startSession(asked, login, 'password');
  },
});

const signOut = openRoute({
  method: 'POST',
  path: '/sign-out',
  permission: 'anyone',
  response: null,
  async handler(asked) {
    const { parts, caller } = asked;
    setCookie(asked, null);
    if (caller.sessionToken !== null) await endSession(parts.writer, caller.sessionToken);
  },
});

async function endSession(writer: pg.Pool, token: string): Promise<void> {
  const end = 'delete from session where token_hash = $1';
  const actor = await actorOf(writer, token).catch((error: unknown) => {
    if (error instanceof ConsoleError) return null;
    throw error;
  });
  if (actor === null) {
    await writer.query(end, [hashToken(token)]);
    return;
  }
  await changeAccount(writer, actor.accountId, async ({ client, record }) => {
    await client.query(end, [hashToken(token)]);
    record('member_signed_out', '/sign-in', { member_id: actor.memberId, name: actor.name });
  });
}

export const signInRoutes: ConsoleRoute[] = [signIn, signOut];
