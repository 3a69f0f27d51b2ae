import type { Check } from '../check.ts';
import { onlyRow, textOrNone } from '../columns.ts';
import { countOf } from '../worst-measures.ts';
import { grantMonitor } from './session-check.ts';

// Without pg_read_all_settings, which pg_monitor has, some settings (shared_preload_libraries) are not listed at all.
const sql = `
  select pg_has_role('pg_read_all_settings', 'usage') as sees_all,
         quote_ident(current_user) as me,
         pending.name
    from (select) one_row
    left join (
      select name
        from pg_settings
       where pending_restart
       order by name
    ) pending on true`;

/** Settings that were changed in the configuration and wait for a restart. */
export const pendingRestart: Check = {
  id: 'PG_PENDING_RESTART',
  title: 'Setting needs a restart',
  category: 'configuration',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows) => {
    const first = onlyRow(rows.slice(0, 1));
    const seesAll = first['sees_all'] === true;
    const names = rows.flatMap((row) => textOrNone(row, 'name') ?? []);
    const passMessage = 'No setting needs a restart.';
    if (!seesAll && names.length === 0)
      return { skipped: 'Not measured: some settings are hidden.', grant: grantMonitor(first) };
    return {
      passMessage,
      measures: [countOf('settings_awaiting_restart_count', names.length)],
      truncated: !seesAll,
      faults: names.map((name) => ({
        severity: 'warning',
        object: name,
        metricLine: `${name} was changed but needs a restart: the server does not run as configured, and its next start may bring surprises; restart it in a quiet period.`,
        remediation: 'Restart PostgreSQL: systemctl restart postgresql, or pg_ctl restart.',
      })),
    };
  },
};
