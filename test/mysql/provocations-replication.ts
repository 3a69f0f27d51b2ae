import type { Provocation } from './provocations.ts';
import { dialect } from './tested-server.ts';

const prefix = dialect({ mysql: 'replica', mariadb: 'slave' });

/** Provocations of replication that need no second server. */
export const replication: Provocation[] = [
  {
    check_id: 'MY_SKIP_ERRORS',
    severity: 'critical',
    object: `${prefix}_exec_mode`,
    async provoke(server) {
      await server.run(`set global ${prefix}_exec_mode = 'IDEMPOTENT'`);
      return async (remediation) => {
        await server.run(remediation);
      };
    },
  },
  {
    check_id: 'MY_SKIP_ERRORS',
    severity: 'critical',
    object: `${prefix}_skip_errors`,
    async provoke(server) {
      await server.restart({ [`${prefix}-skip-errors`]: '1062,1032' });
      return async () => server.restart();
    },
  },
];
