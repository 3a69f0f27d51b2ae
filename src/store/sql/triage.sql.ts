import { severityRank } from './severity-rank.sql.ts';

/**
 * SQL: whether the acknowledgement in `ticket_triage g` holds for `ticket t` at `now`. It ends at its time, when the
 * ticket opens again, and when the ticket gets worse.
 */
export const isAcknowledged = (now: string) => `
  coalesce(t.status = 'open'
           and g.acknowledged_at > coalesce(t.reopened_at[cardinality(t.reopened_at)], '-infinity')
           and coalesce(g.acknowledged_until > ${now}, true)
           and ${severityRank('t.severity')} >= ${severityRank('g.acknowledged_severity')}, false)`;

/** SQL: whether `ticket t` is put off, with `ticket_triage g`. A snoozed ticket is counted by itself, not as open. */
export const isSnoozed = `(g.acknowledged_until is not null and ${isAcknowledged('now()')})`;
