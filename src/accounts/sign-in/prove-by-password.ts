import { changeAccount } from '../../activity/record-entry.ts';
import { foldedEmail } from '../members/email.ts';
import { knownDevice, type PasswordLogin } from './known-device.ts';
import { throttledLogin } from './login-throttle.ts';
import { listMemberships } from './memberships.ts';
import { whosePassword } from './password.ts';
import type { Caller, SignInParts, SignInRequest } from './sign-in-request.ts';

// Several accounts may have a login with the same address, because the address is not verified.
const byEmail = `
  select login_id, account_id, password from login
   where ${foldedEmail('email')} = ${foldedEmail('$1::text')} and password is not null
   order by login_id`;

/** A login of one account. */
interface Login extends PasswordLogin {
  account_id: number;
}

/**
 * The logins of an e-mail address that have this password; `only` restricts them to one login or account. A wrong
 * password is counted and logged; returns null.
 *
 * Anyone may create a login with the address in their own account. So a password must not reveal whether it also fits
 * other accounts: on a known device only its logins are checked, and elsewhere a password that fits only some of the
 * logins counts as a guess at the others.
 */
export async function proveByPassword(
  asked: SignInRequest,
  { email, password }: { email: string; password: string },
  only: { loginId?: number; accountId?: number } = {},
): Promise<Login[] | null> {
  const { parts, caller } = asked;
  const { rows } = await parts.control.query<Login>(byEmail, [email]);
  const logins = rows.filter(
    ({ login_id, account_id }) =>
      (only.loginId ?? login_id) === login_id && (only.accountId ?? account_id) === account_id,
  );
  const { device, logins: known } = knownDevice(asked, logins);
  const isKnown = ({ login_id }: Login) => known.includes(login_id);
  return throttledLogin(parts.control, { ...caller, email, device }, async ({ asDevice, asAnybody }) => {
    const theirs = await whosePassword(logins, password);
    const here = asDevice ? theirs.filter(isKnown) : [];
    if (here.length > 0) return { value: here, isGuess: false };
    if (asAnybody && theirs.length > 0) return { value: theirs, isGuess: theirs.length < logins.length };
    // A known device is used by one of its own users, so other accounts with the address are not notified.
    for (const { login_id } of device === null ? logins : logins.filter(isKnown)) {
      recordFailure(parts, caller, login_id);
    }
    return null;
  });
}

/** Not awaited: the response time would reveal whether the address exists. */
function recordFailure({ stores, inTurn, requestLog }: SignInParts, caller: Caller, loginId: number): void {
  const record = async () => {
    for (const { account_id, ...member } of await listMemberships(stores, loginId)) {
      const { writer } = await stores.of(account_id);
      await inTurn(writer, account_id, () =>
        changeAccount(writer, account_id, async ({ record }) => {
          const { address, userAgent } = caller;
          // The actor is unknown; the member is the one whose sign-in was attempted.
          const from = { source_ip: address, user_agent: userAgent };
          record('member_sign_in_failed', '/sign-in', { actor: 'unknown', ...member, ...from });
        }),
      );
    }
  };
  record().catch((error) =>
    requestLog.failed({ err: error }, 'an attempt to sign in that failed could not be recorded'),
  );
}
