import { foldedEmail } from '../members/email.ts';
import { hashNewPassword } from './password.ts';
import type { SignInParts } from './sign-in-request.ts';

const anyOfEmail = `
  select password from login
   where ${foldedEmail('email')} = ${foldedEmail('$1::text')} and password is not null
   order by login_id
   limit 1`;

/** Hashes a new password for an e-mail address. Throws 400 when it is easy to guess. */
export async function newPassword(
  { control }: Pick<SignInParts, 'control'>,
  email: string,
  password: string,
  { about, parameter }: { about: readonly (string | null)[]; parameter: string },
): Promise<string> {
  const { rows } = await control.query<{ password: string }>(anyOfEmail, [email]);
  return hashNewPassword(password, {
    about: [email, ...about],
    parameter,
    beside: rows[0]?.password ?? null,
  });
}
