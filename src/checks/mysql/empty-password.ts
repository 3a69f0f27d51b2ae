import { accountCheck } from './account-check.ts';
import { newPassword, whereWritable } from './account-statements.ts';
import { printable } from './quote.ts';

/** Plugins that accept an empty password if they have no hash. Those of sockets, PAM or Kerberos never have one. */
const EMPTY_LETS_IN = `('mysql_native_password', 'mysql_old_password', 'sha256_password', 'caching_sha2_password')`;
const BY_PASSWORD = EMPTY_LETS_IN.replace(')', `, 'ed25519', 'parsec')`);

/** Accounts that anyone who reaches the server can log in to. */
export const emptyPassword = accountCheck({
  id: 'MY_EMPTY_PASSWORD',
  title: 'Account without a password',
  severity: 'critical',
  where: () =>
    `loaded and ((no_password and plugin in ${EMPTY_LETS_IN}) or (user = '' and plugin in ${BY_PASSWORD}))`,
  fault: (account, version) => {
    const { name, user, own } = account;
    if (user !== '')
      return {
        metricLine: `The account ${name} has an empty password: anyone who knows its name can log in; set a password.`,
        remediation: newPassword(account, version),
      };
    return {
      metricLine: `The account ${name} matches any user name: anyone who reaches the server can log in; drop it.`,
      remediation: own
        ? `${printable(`SHOW GRANTS FOR ${name};`)} -- dbvitals logs in with this account: create a login for it, enter that with "connection change", then drop this account`
        : whereWritable(account, printable(`DROP USER ${name};`)),
    };
  },
  well: 'is anonymous or has an empty password',
  countMetric: 'accounts_without_password_count',
});
