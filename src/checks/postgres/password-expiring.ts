import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import { counted, duration } from '../wording.ts';

/** Days ahead, and back: a role that expired longer ago was locked on purpose, or nobody misses it. */
const thresholds = { warning_days: 7 };
const DAY = 86_400;

const sql = `
  select quote_ident(rolname) as role,
         extract(epoch from rolvaliduntil)::float8 - extract(epoch from now())::float8 as seconds_left
    from pg_roles
   where rolcanlogin
     and isfinite(rolvaliduntil)
   order by rolvaliduntil, rolname`;

/** Roles whose password expires within a few days, or expired a few days ago. */
export const passwordExpiring: Check<typeof thresholds> = {
  id: 'PG_PASSWORD_EXPIRING',
  title: 'Password expires',
  category: 'security',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { warning_days } = facts.thresholds;
    const expiring = rows.filter((row) => Math.abs(numberIn(row, 'seconds_left')) <= warning_days * DAY);
    return {
      passMessage: `No password expires within ${counted(warning_days, 'day')}.`,
      truncated: expiring.length > FAULT_LIMIT,
      faults: expiring.slice(0, FAULT_LIMIT).map((row) => {
        const role = textIn(row, 'role');
        const left = numberIn(row, 'seconds_left');
        const when = left > 0 ? `expires in ${duration(left)}` : `expired ${duration(-left)} ago`;
        return {
          severity: 'warning',
          object: role,
          metricLine: `The password of role ${role} ${when}: logins with it fail from then on; change it, then its date.`,
          remediation: `ALTER ROLE ${role} VALID UNTIL 'infinity'; -- after \\password ${role}; or use the date that your password policy requires`,
        };
      }),
    };
  },
};
