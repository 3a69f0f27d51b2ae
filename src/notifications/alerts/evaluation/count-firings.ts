import type { StandingAlert } from '../alert-row.ts';
import type { RuleCondition, WatchedRule } from '../alert-rule.ts';
import { advanceAlert } from './advance-alert.ts';

/** A value at a time in Unix seconds; null = not measured, which neither begins nor ends an alert. */
export interface MeasuredPoint {
  at: number;
  value: number | null;
}

/** What decides of nothing here. */
const UNSAID = {
  id: 0,
  name: '',
  severity: 'warning',
  connection_ids: null,
  connection_names: null,
  destination_ids: null,
  reminder_seconds: null,
} as const;

const DETAILS = { check_id: null, database: '', object: null, metric_line: '', remediation: null };

/** How often a condition would have fired on these values of one connection, the oldest first: flaps are held as they are in runs. */
export function countFirings(points: readonly MeasuredPoint[], condition: RuleCondition): number {
  const rule: WatchedRule = { ...UNSAID, ...condition };
  let fired = 0;
  let standing: StandingAlert | undefined;
  let recent: StandingAlert | undefined;
  for (const { at, value } of points) {
    if (value === null) continue;
    const moment = { connectionId: 0, at: new Date(at * 1_000).toISOString(), mayAnnounce: false };
    const step = advanceAlert(
      rule,
      { standing, recent },
      { value, unsilenced: value, details: DETAILS },
      moment,
    );
    if (step === null) continue;
    const alert = { ...step.alert, alert_id: 0 };
    const isOver = step.write === 'delete' || alert.state === 'resolved';
    if (alert.state === 'resolved') recent = alert;
    standing = isOver ? undefined : alert;
    if (step.logged === 'alert_triggered') fired += 1;
  }
  return fired;
}
