import type { Provocation } from './provocations.ts';

/** Provocations of replication that need no second server. */
export const replication: Provocation[] = [
  {
    check_id: 'MY_SKIP_ERRORS',
    severity: 'critical',
    object: 'slave_exec_mode',
    async provoke(server) {
      await server.run(`set global slave_exec_mode = 'IDEMPOTENT'`);
      return async (remediation) => {
        await server.run(remediation);
      };
    },
  },
  {
    check_id: 'MY_SKIP_ERRORS',
    severity: 'critical',
    object: 'slave_skip_errors',
    async provoke(server) {
      await server.restart({ 'slave-skip-errors': '1062,1032' });
      return async () => server.restart();
    },
  },
];
