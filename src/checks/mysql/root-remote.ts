import { type Account, accountCheck, REMOTE_ROOT } from './account-check.ts';
import { whereWritable } from './account-statements.ts';
import { printable } from './quote.ts';

/** An account with all privileges and a name that everybody knows, open to other machines. */
export const rootRemote = accountCheck({
  id: 'MY_ROOT_REMOTE',
  title: 'root can log in remotely',
  severity: 'warning',
  keepers: true,
  where: () => `loaded and ${REMOTE_ROOT}`,
  fault: (account) => ({
    metricLine: `The account ${account.name} lets root log in from other machines, so anyone on the network can guess its password; lock it, then drop it.`,
    remediation: remediation(account),
  }),
  well: 'lets root log in from other machines',
  countMetric: 'remote_root_accounts_count',
});

function remediation(account: Account): string {
  const { name, own, replicates, keepers } = account;
  const look = printable(`SHOW GRANTS FOR ${name};`);
  if (own)
    return `${look} -- dbvitals logs in with this account: create a login of its own for it, enter that with "connection change", and run the check again`;
  if (replicates)
    return `${look} -- a replica logs in as root: create a login with REPLICATION SLAVE for it, change the replica to that, and run the check again`;
  if (keepers === 0)
    return `${look} -- no other administrator can surely log in, so keep this account for now: create one for localhost with the same grants, log in with it, and run the check again`;
  return whereWritable(
    account,
    `${printable(`ALTER USER ${name} ACCOUNT LOCK;`)} -- another administrator can log in at the server; open sessions stay. Drop the account once nothing uses it`,
  );
}
