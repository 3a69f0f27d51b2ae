import { isAcknowledged, isSnoozed } from '../../store/sql/triage.sql.ts';

/** SQL: how many of the tickets `t` of $1 that match `condition` are snoozed. Few tickets have a triage. */
export const countSnoozed = (condition: string) => `
  (select count(*)::int
     from ticket_triage g
     join ticket t on t.account_id = $1 and t.ticket_id = g.ticket_id
    where g.account_id = $1 and g.acknowledged_at is not null and ${condition} and ${isSnoozed})`;

/** SQL: the active silence that resolved `ticket t`, as a lateral join `s`; no row = none. */
export const activeSilence = `
  left join lateral (
         select s.silence_id, s.created_by, s.reason, s.note, s.ends_at
           from silence s
          where t.status = 'resolved' and t.resolution like 'silenced: %'
            and s.account_id = $1 and s.connection_id = t.connection_id and s.check_id = t.check_id
            and (s.object is null or s.object = t.object)
            and (s.ends_at is null or s.ends_at > now())
          order by s.object nulls last, s.ends_at desc nulls first, s.silence_id
          limit 1) s on true`;

/** SQL: the state of `ticket t`, with `ticket_triage g` and {@link activeSilence} `s`. */
export const ticketState = `
  case when t.status = 'resolved' then case when s.silence_id is null then 'resolved' else 'silenced' end
       when not ${isAcknowledged('now()')} then 'new'
       when g.acknowledged_until is null then 'acknowledged'
       else 'snoozed' end`;
