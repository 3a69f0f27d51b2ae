import { accountCheck } from './account-check.ts';
import { newPassword } from './account-statements.ts';
import { isMariaDb } from './flavour.ts';

/** Accounts whose password hash no longer protects it. */
export const authLegacy = accountCheck({
  id: 'MY_AUTH_LEGACY',
  title: 'Outdated authentication method',
  severity: 'warning',
  // SHA-1 without salt is still MariaDB's default, so only older hashes count there.
  where: (version) =>
    isMariaDb(version)
      ? `plugin = 'mysql_old_password' or (plugin = 'mysql_native_password' and old_hash)`
      : `plugin = 'mysql_native_password'`,
  fault: (account, version) =>
    isMariaDb(version)
      ? {
          metricLine: `The password of ${account.name} is stored as a hash from before MySQL 4.1, which can be cracked in seconds; set a new one.`,
          remediation: newPassword(account, version),
        }
      : {
          metricLine: `${account.name} uses mysql_native_password, which MySQL 9 no longer has; set a new password with caching_sha2_password.`,
          remediation: newPassword(account, version, 'caching_sha2_password'),
        },
  well: 'uses an outdated authentication method',
  countMetric: 'legacy_authentication_accounts_count',
});
