import { PROVIDER_NAMES, type Provider } from '../../vocabulary/hosted/providers.ts';
import type { Fault } from '../fault.ts';

/** Check id → provider → why its finding would be untrue there, after the provider's name. */
const UNTRUE: Readonly<Record<string, Partial<Record<Provider, string>>>> = {
  PG_FSYNC_OFF: {
    aurora: 'keeps commits in its own storage service, so fsync and full_page_writes say nothing',
    alloydb: 'keeps commits in its own storage service, so fsync and full_page_writes say nothing',
    neon: 'keeps commits in its own storage service, so fsync and full_page_writes say nothing',
  },
  PG_CHECKPOINTS_REQUESTED: { aurora: 'makes no checkpoints: its own storage service applies the WAL' },
  PG_STANDBY_CUT_OFF: {
    aurora: 'replicates by its own storage service, without a WAL receiver',
    alloydb: 'replicates by its own storage service, without a WAL receiver',
    neon: 'replicates by its own storage service, without a WAL receiver',
  },
  MY_DOUBLEWRITE_OFF: {
    aurora: 'keeps pages in its own storage service, which writes none by half',
    rds: 'turns the doublewrite buffer off where its storage writes whole pages (Optimized Writes)',
  },
  MY_BINLOG_NO_EXPIRY: {
    aurora: 'removes binary logs itself, by its "binlog retention hours"',
    rds: 'removes binary logs itself, by its "binlog retention hours"',
  },
  MY_BINLOG_OFF: { aurora: 'restores to any moment without the binary log' },
  MY_ROOT_REMOTE: { cloudsql: "makes root@% itself, as the administrator's login" },
};

/** Why a check does not apply to a server of the provider, as a sentence; undefined if it does. */
export function notApplicable(provider: Provider, checkId: string): string | undefined {
  const reason = Object.hasOwn(UNTRUE, checkId) ? UNTRUE[checkId]?.[provider] : undefined;
  return reason === undefined ? undefined : `Not measured: ${PROVIDER_NAMES[provider]} ${reason}.`;
}

/** The accounts of MySQL that belong to the provider, as findings name them: no customer can change them. */
const OWN_ACCOUNTS: Partial<Record<Provider, RegExp>> = {
  aurora: /^`(?:rdsadmin|rdsrepladmin|rdsgrprepladmin|rdsproxyadmin|rdstopmgr|AWS_\w+)`@/,
  rds: /^`(?:rdsadmin|rdsrepladmin|rdsgrprepladmin|rdsproxyadmin|rdstopmgr|AWS_\w+)`@/,
  cloudsql: /^`cloudsql\w*`@/,
  azure: /^`azure_superuser`@/,
};

/** Whether a fault is about an account of the provider. */
export function isOfProvider(provider: Provider, { object }: Pick<Fault, 'object'>): boolean {
  return object !== null && OWN_ACCOUNTS[provider]?.test(object) === true;
}
