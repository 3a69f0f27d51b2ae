import type { Read } from '../../store/read.ts';
import type { SilenceReason } from '../../vocabulary/silence-reasons.ts';

/** A silence that covered a ticket, with who began and ended it. */
export interface TicketSilence {
  created_at: Date;
  /** Null if it is older than the names of authors. */
  created_by: string | null;
  reason: SilenceReason;
  note: string;
  /** When it was to end, or ended; null if nobody has ended it. */
  ends_at: Date | null;
  /** When a member ended it; null if it lasts, or its time was over. */
  ended_at: Date | null;
  ended_by: string | null;
}

// The change of the same instant has the name of who ended it.
const select = `
  select s.created_at, s.created_by, s.reason, s.note, s.ended_at,
         case when s.ended_at is null then s.ends_at else s.until_before end as ends_at,
         (select x.source from connection_change x
           where x.account_id = $1 and x.connection_id = s.connection_id and x.at = s.ended_at and x.kind = 'silence'
           limit 1) as ended_by
    from ticket t
    join silence s on s.account_id = $1 and s.connection_id = t.connection_id and s.check_id = t.check_id
                  and (s.object is null or s.object = t.object)
                  and s.created_at >= t.first_seen_at and s.created_at <= coalesce(t.resolved_at, now())
   where t.account_id = $1 and t.ticket_id = $2
   order by s.created_at desc
   limit 50`;

/** The newest silences that began while a ticket was open, the newest first. */
export function readTicketSilences(run: Read, accountId: number, ticketId: number): Promise<TicketSilence[]> {
  return run<TicketSilence>(select, [accountId, ticketId]);
}
