import type { Finding } from '../../checks/check.ts';
import { inTransaction } from '../../store/connect.ts';
import type { SampleFleet } from './sample-connection.ts';
import { fleetRuns, runInstant } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';
import type { SampleTarget } from './sample-target.ts';
import { findingOf } from './sample-tickets.ts';

// Tickets may be opened only under this lock (docs/decisions/0009-tickets.md).
const lockHead = 'select from activity_head where account_id = $1 for update';

// first_seen_at is as planned, but later than the account's newest ticket: positions follow that order, and pages are
// pinned to it.
const insertTickets = `
  with newest as (
    select number, first_seen_at from ticket where account_id = $1 order by number desc limit 1
  ), planned as (
    select t.*, timestamptz 'epoch' + first_seen * interval '1 microsecond' as seen
      from rows from (json_to_recordset($2::json)
        as (connection_id bigint, check_id text, database text, object text, category text, title text, severity text,
            metric_line text, measured jsonb, remediation text, first_seen bigint, last_seen bigint,
            resolved bigint))
        with ordinality as t (connection_id, check_id, database, object, category, title, severity,
            metric_line, measured, remediation, first_seen, last_seen, resolved, n)
  ), last_of_connection as (
    select connection_id, (select connection_number from ticket t
                            where t.account_id = $1 and t.connection_id = p.connection_id
                            order by connection_number desc limit 1) as number
      from (select distinct connection_id from planned) p
  ), placed as (
    select p.*, greatest(seen, (select first_seen_at from newest) + interval '1 microsecond') as first_seen_at,
           coalesce((select number from newest), 0) + n as number,
           coalesce(l.number, 0) + row_number() over (partition by connection_id order by n) as connection_number
      from planned p
      join last_of_connection l using (connection_id)
  )
  insert into ticket (account_id, connection_id, number, connection_number, check_id, database, object, category, title,
                      severity, status, metric_line, measured, remediation, first_seen_at, last_seen_at, resolved_at,
                      resolution)
  select $1, connection_id, number, connection_number, check_id, database, object, category, title, severity,
         case when resolved is null then 'open' else 'resolved' end, metric_line, measured, remediation, first_seen_at,
         greatest(first_seen_at, timestamptz 'epoch' + last_seen * interval '1 microsecond'),
         case when resolved is not null then greatest(first_seen_at + interval '1 microsecond',
                                                      timestamptz 'epoch' + resolved * interval '1 microsecond') end,
         case when resolved is not null then 'no longer found' end
    from placed
   order by n
  returning ticket_id as id`;

type TicketRow = Omit<Finding, 'status'> & {
  connection_id: number;
  first_seen: number;
  last_seen: number;
  resolved: number | null;
};

const TICKETS_A_TRANSACTION = 5_000;

/**
 * Writes a fleet's tickets in the order in which they opened. Returns their ids in that order, and how many are
 * resolved.
 */
export async function writeTickets(
  { writer, accountId, history, checks }: SampleTarget,
  fleet: SampleFleet & { connectionIds: readonly number[] },
  step: SampleStep,
): Promise<{ ticketIds: Float64Array; resolved: number }> {
  const all = fleet.connections.reduce((sum, { tickets }) => sum + tickets, 0);
  const ticketIds = new Float64Array(all);
  let [written, resolved] = [0, 0];
  let batch: TicketRow[] = [];
  const write = async () => {
    const json = JSON.stringify(batch);
    const ids = await inTransaction(writer, async (client) => {
      await client.query(lockHead, [accountId]);
      return (await client.query<{ id: number }>(insertTickets, [accountId, json])).rows;
    });
    for (const { id } of ids) ticketIds[written++] = id;
    batch = [];
    step(written, all);
  };
  for (const { place, at, opened } of all === 0 ? [] : fleetRuns(fleet, history)) {
    const connection = fleet.connections[place];
    const connection_id = fleet.connectionIds[place];
    if (!connection || connection_id === undefined) throw new Error('A ticket has no connection.');
    const instant = (run: number) => runInstant(connection, run, fleet.runs, history);
    for (const ticket of opened) {
      const { status: _status, ...finding } = findingOf(ticket, checks);
      const { end } = ticket;
      if (end !== null) resolved++;
      const last_seen = instant((end ?? fleet.runs) - 1);
      batch.push({
        ...finding,
        connection_id,
        first_seen: at,
        last_seen,
        resolved: end === null ? null : instant(end),
      });
    }
    // The tickets of a run stay in one transaction, because they were first seen at the same instant.
    if (batch.length >= TICKETS_A_TRANSACTION) await write();
  }
  if (batch.length > 0) await write();
  return { ticketIds, resolved };
}
