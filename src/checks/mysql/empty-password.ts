import { accountCheck } from './account-check.ts';

/** Plugins that accept an empty password if they have no hash. Those of sockets, PAM or Kerberos never have one. */
const EMPTY_LETS_IN = `('mysql_native_password', 'mysql_old_password', 'sha256_password', 'caching_sha2_password')`;
const BY_PASSWORD = EMPTY_LETS_IN.replace(')', `, 'ed25519', 'parsec')`);

/** Accounts that anyone who reaches the server can log in to. */
export const emptyPassword = accountCheck({
  id: 'MY_EMPTY_PASSWORD',
  title: 'Account without a password',
  severity: 'critical',
  where: () => `(no_password and plugin in ${EMPTY_LETS_IN}) or (user = '' and plugin in ${BY_PASSWORD})`,
  fault: (account, user) =>
    user === ''
      ? {
          metricLine: `The account ${account} matches any user name: anyone who reaches the server can log in; drop it.`,
          remediation: `DROP USER ${account};`,
        }
      : {
          metricLine: `The account ${account} has an empty password: anyone who knows its name can log in; lock it or set a password.`,
          remediation: `ALTER USER ${account} ACCOUNT LOCK; -- or, if it is needed, ALTER USER with a password`,
        },
  well: 'is anonymous or has an empty password',
  countMetric: 'accounts_without_password_count',
});
