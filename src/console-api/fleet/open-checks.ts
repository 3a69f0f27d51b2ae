import { titleOf } from '../../checks/catalogue.ts';
import type { Read } from '../../store/read.ts';
import { severityRank } from '../../store/sql/severity-rank.sql.ts';
import { isSnoozed } from '../../store/sql/triage.sql.ts';
import { SEVERITIES, type Severity } from '../../vocabulary/severities.ts';

/** The open tickets of a check on one connection. */
export interface OpenTickets {
  open_tickets: number;
  /** The gravest one. */
  worst: { check_id: string; title: string; severity: Severity };
}

// As the list of open tickets has them.
const OPEN = `ticket t
    left join ticket_triage g on g.account_id = $1 and g.ticket_id = t.ticket_id
   where t.account_id = $1 and t.status = 'open' and not ${isSnoozed}`;

const selectOfCheck = `
  select distinct on (t.connection_id) t.connection_id, t.title, t.severity,
         count(*) over (partition by t.connection_id)::integer as open_tickets
    from ${OPEN} and t.check_id = $2
   order by t.connection_id, ${severityRank('t.severity')}, t.ticket_id`;

/** The connections with an open ticket of a check. */
export async function openTicketsOf(
  read: Read,
  accountId: number,
  check_id: string,
): Promise<Map<number, OpenTickets>> {
  const rows = await read<{
    connection_id: number;
    title: string;
    severity: Severity;
    open_tickets: number;
  }>(selectOfCheck, [accountId, check_id]);
  return new Map(
    rows.map(({ connection_id, open_tickets, ...ticket }) => [
      connection_id,
      { open_tickets, worst: { check_id, ...ticket } },
    ]),
  );
}

const selectChecks = `
  select t.check_id, min(t.title) as title, min(${severityRank('t.severity')}) as place, count(distinct t.connection_id)::integer as connections
    from ${OPEN}
   group by t.check_id
   order by count(distinct t.connection_id) desc, t.check_id`;

/** The checks with open tickets, those of most connections first. */
export async function openChecks(read: Read, accountId: number) {
  const rows = await read<{ check_id: string; title: string; place: number; connections: number }>(
    selectChecks,
    [accountId],
  );
  return rows.map(({ check_id, title, place, connections }) => ({
    check_id,
    title: titleOf(check_id) ?? title,
    connections,
    severity: SEVERITIES[place - 1] ?? 'info',
  }));
}
