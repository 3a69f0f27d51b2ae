import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { counted, duration } from '../wording.ts';
import { atMost, faultMeasure, worstOf } from '../worst-measures.ts';

/** Days ahead, and for the warning also back: a role that expired longer ago was locked on purpose, or nobody misses it. */
const thresholds = { warning_days: 7, critical_days: 1 };
const DAY = 86_400;

const sql = `
  select quote_ident(rolname) as role,
         quote_literal(rolname) as literal,
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
  maxSeverity: 'critical',
  volatile: false,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { warning_days, critical_days } = facts.thresholds;
    const warning = warning_days * DAY;
    const critical = critical_days * DAY;
    const scale = atMost('password_left_seconds', warning, critical);
    const measure = (row: Row) => ({
      ...scale,
      object: textIn(row, 'role'),
      value: numberIn(row, 'seconds_left'),
    });
    const current = rows.filter((row) => numberIn(row, 'seconds_left') >= -warning);
    const expiring = current.filter((row) => numberIn(row, 'seconds_left') <= warning);
    return {
      passMessage: `No password expires within ${counted(warning_days, 'day')}.`,
      measures: worstOf(current.map(measure)),
      truncated: expiring.length > FAULT_LIMIT,
      faults: expiring.slice(0, FAULT_LIMIT).map((row) => {
        const role = textIn(row, 'role');
        const left = numberIn(row, 'seconds_left');
        const when = left > 0 ? `expires in ${duration(left)}` : `expired ${duration(-left)} ago`;
        return {
          severity: left <= critical ? 'critical' : 'warning',
          object: role,
          metricLine: `The password of role ${role} ${when}: logins with it fail from then on; change it, then its date.`,
          remediation: `SELECT rolname, rolvaliduntil FROM pg_roles WHERE rolname = ${textIn(row, 'literal')}; -- then change its password, and run ALTER ROLE ${role} VALID UNTIL 'infinity'; or with the date that your password policy requires`,
          measured: faultMeasure(measure(row)),
        };
      }),
    };
  },
};
