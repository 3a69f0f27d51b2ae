import type { Check } from '../check.ts';
import { CONFIG, settingIn } from './console.ts';

/** `auth_type` → why it is a fault. */
const WEAK: ReadonlyMap<string, string> = new Map([
  [
    'any',
    'anybody who reaches it logs in to the databases as the user of its configuration, without a password',
  ],
  ['trust', 'anybody who knows the name of a user logs in without a password'],
  ['plain', 'passwords are sent in clear text'],
]);

/** Addresses that only this machine reaches. */
const LOCAL = new Set(['', '127.0.0.1', '::1', 'localhost']);

/** Clients log in without a password, or with one in clear text. */
export const authWeak: Check = {
  id: 'PB_AUTH_WEAK',
  title: 'Clients log in without a password',
  category: 'security',
  maxSeverity: 'critical',
  volatile: false,
  scope: 'server',
  sql: () => CONFIG,
  judge: (rows) => {
    const type = settingIn(rows, 'auth_type');
    const isLocal = settingIn(rows, 'listen_addr')
      .split(',')
      .every((address) => LOCAL.has(address.trim()));
    const why = WEAK.get(type);
    if (why === undefined)
      return { faults: [], passMessage: 'Clients have to prove who they are.', measures: [] };
    return {
      passMessage: '',
      measures: [],
      faults: [
        {
          severity: type === 'plain' || isLocal ? 'warning' : 'critical',
          object: null,
          metricLine: `auth_type is ${type}: ${why}${isLocal ? ', from this machine only' : ''}; use scram-sha-256.`,
          remediation:
            'SHOW USERS; -- each needs its password in auth_file, or auth_query; then set auth_type = scram-sha-256 in pgbouncer.ini (md5 while an entry begins with md5, which scram-sha-256 refuses) and run RELOAD;',
        },
      ],
    };
  },
};
