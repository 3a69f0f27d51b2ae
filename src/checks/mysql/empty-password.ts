import { accountCheck } from './account-check.ts';

/** Plugins that take an empty password where they have no hash. Those of sockets, PAM or Kerberos have none by nature. */
const EMPTY_LETS_IN = `('mysql_native_password', 'mysql_old_password', 'sha256_password', 'caching_sha2_password')`;
const BY_PASSWORD = EMPTY_LETS_IN.replace(')', `, 'ed25519', 'parsec')`);

/** Accounts that anybody who reaches the server can log in to. */
export const emptyPassword = accountCheck({
  id: 'MY_EMPTY_PASSWORD',
  title: 'Account without a password',
  severity: 'critical',
  where: () => `(no_password and plugin in ${EMPTY_LETS_IN}) or (user = '' and plugin in ${BY_PASSWORD})`,
  fault: (account, user) =>
    user === ''
      ? {
          metricLine: `The account ${account} is for any user name: whoever reaches the server is let in; drop it.`,
          remediation: `DROP USER ${account};`,
        }
      : {
          metricLine: `The account ${account} has an empty password: whoever knows its name is let in; lock it or give it a password.`,
          remediation: `ALTER USER ${account} ACCOUNT LOCK; -- or, where it is needed, ALTER USER with a password of its own`,
        },
  well: 'is anonymous or without a password',
});
