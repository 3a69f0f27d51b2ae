import { accountCheck } from './account-check.ts';

/** An account with all privileges and a name that everybody knows, open to other machines. */
export const rootRemote = accountCheck({
  id: 'MY_ROOT_REMOTE',
  title: 'root can log in remotely',
  severity: 'warning',
  where: () => `user = 'root'
            and host not in ('localhost', '127.0.0.1', '::1', '')
            and lower(host) <> lower(@@global.hostname)`,
  fault: (account) => ({
    metricLine: `The account ${account} lets root log in from other machines, so anyone on the network can guess its password; lock it, then drop it.`,
    remediation: `ALTER USER ${account} ACCOUNT LOCK; -- and DROP USER, once nothing uses it`,
  }),
  well: 'lets root log in from other machines',
  countMetric: 'remote_root_accounts_count',
});
