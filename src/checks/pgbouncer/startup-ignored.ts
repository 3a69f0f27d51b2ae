import type { Check } from '../check.ts';
import { CONFIG, settingIn } from './console.ts';

/** Startup parameters that change what statements do. Others, such as extra_float_digits, only change how answers look. */
const MATTERS: ReadonlySet<string> = new Set([
  'default_transaction_isolation',
  'default_transaction_read_only',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
  'options',
  'role',
  'search_path',
  'statement_timeout',
]);

/** Settings that clients ask for when they connect, and do not get. */
export const startupIgnored: Check = {
  id: 'PB_STARTUP_IGNORED',
  title: 'Settings of clients ignored',
  category: 'configuration',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  sql: () => CONFIG,
  judge: (rows) => {
    const ignored = settingIn(rows, 'ignore_startup_parameters')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => MATTERS.has(name));
    if (ignored.length === 0)
      return {
        faults: [],
        passMessage: 'PgBouncer ignores no setting of clients that changes what statements do.',
        measures: [],
      };
    const names = [...new Set(ignored)].join(', ');
    return {
      passMessage: '',
      measures: [],
      faults: [
        {
          severity: 'info',
          object: null,
          metricLine: `ignore_startup_parameters has ${names}: a client that sets this when it connects is not told that it has no effect; set it for the role or the database instead.`,
          remediation:
            'SHOW CONFIG; -- set it with ALTER ROLE … SET on the server; when no client sends it any more (it would be refused), take it out of ignore_startup_parameters in pgbouncer.ini, then run RELOAD;',
        },
      ],
    };
  },
};
