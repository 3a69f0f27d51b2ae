/** SQL: the id of the run that opened a ticket, and of the run before it. $1 = account, $2 = ticket. */
export const runsOfTicket = `
  select run.health_check_id as id
    from ticket t
   cross join lateral (select health_check_id, created_at
                         from health_check
                        where account_id = $1 and connection_id = t.connection_id and created_at <= t.first_seen_at
                        order by created_at desc, health_check_id desc
                        limit 2) run
   where t.account_id = $1 and t.ticket_id = $2
   order by run.created_at, run.health_check_id`;
