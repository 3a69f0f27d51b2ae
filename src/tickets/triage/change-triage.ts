import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import {
  propertiesOf,
  readTriage,
  recordAcknowledgement,
  type SeenTicket,
  type SkippedTicket,
  type Triage,
  type TriagedTicket,
  type TriageResult,
  writeTriage,
} from './triage-row.ts';

/** How tickets are changed; what is absent stays as it is. */
export interface WantedTriage {
  /** A member; null = nobody. */
  assignee_id?: number | null;
  /** `until` = snoozed until then; null = until it is resolved or gets worse. False withdraws it. */
  acknowledged?: { until: Date | null } | false;
}

/**
 * Assigns, acknowledges or snoozes open tickets, each with a log entry. Skips those that are resolved, and those that
 * somebody changed after they were seen. Throws `notFound` if one does not exist: then nothing is changed.
 */
export function changeTriage(
  change: ChangeAccount,
  tickets: readonly SeenTicket[],
  wanted: WantedTriage,
): Promise<TriageResult> {
  return change(async (within) => {
    const { accountId, client, at, author, record } = within;
    const rows = await readTriage(within, tickets);
    const assignee = await assigneeOf(within, wanted.assignee_id);
    const until = wanted.acknowledged ? wanted.acknowledged.until : null;
    if (until !== null && until <= new Date(at)) {
      throw new Rejection('invalid_parameter', 'The end must be in the future.', { parameter: 'until' });
    }
    const seen = new Map(tickets.map(({ id, version }) => [id, version]));
    const skipped: SkippedTicket[] = [];
    const next: (Triage & { ticket_id: number; before: Triage })[] = [];
    for (const row of rows) {
      const { ticket_id, triage } = row;
      const toAssign = wanted.assignee_id !== undefined && wanted.assignee_id !== triage.assignee_id;
      const toAcknowledge = wanted.acknowledged !== undefined && !isAsWanted(row, wanted.acknowledged);
      if (!toAssign && !toAcknowledge) continue;
      if (row.status === 'resolved') {
        skipped.push({ id: ticket_id, reason: 'resolved', by: null });
      } else if (row.version !== seen.get(ticket_id)) {
        skipped.push({ id: ticket_id, reason: 'changed', by: row.changed_by });
      } else {
        const properties = propertiesOf(row);
        const page = `/tickets?ticket=${ticket_id}`;
        const after = {
          ...triage,
          ...(toAssign && { assignee_id: assignee.assignee_id, assigned_by: author }),
          ...(toAcknowledge && acknowledgement(wanted.acknowledged, row, within)),
        };
        if (toAssign) record('ticket_assigned', page, { ...properties, ...assignee });
        if (toAcknowledge) recordAcknowledgement(within, page, properties, { before: triage, after });
        next.push({ ...after, ticket_id, before: triage });
      }
    }
    return { changed: await writeTriage(client, { accountId, at, author }, next), skipped };
  });
}

const selectAssignee = `
  select name from member where account_id = $1 and member_id = $2 and status = 'active'`;

interface AssignedTo {
  assignee_id: number | null;
  assignee_name: string | null;
}

async function assigneeOf({ accountId, client }: Change, id: number | null | undefined): Promise<AssignedTo> {
  if (id === null || id === undefined) return { assignee_id: null, assignee_name: null };
  const { rows } = await client.query<{ name: string }>(selectAssignee, [accountId, id]);
  const [member] = rows;
  if (member) return { assignee_id: id, assignee_name: member.name };
  throw new Rejection('invalid_parameter', 'Choose an active member of the account.', {
    parameter: 'assignee_id',
  });
}

function isAsWanted(
  { is_acknowledged, triage }: TriagedTicket,
  wanted: { until: Date | null } | false,
): boolean {
  if (!wanted) return !is_acknowledged;
  if (!is_acknowledged) return false;
  const { acknowledged_until: until } = triage;
  return (until === null ? null : Date.parse(until)) === (wanted.until?.getTime() ?? null);
}

function acknowledgement(
  wanted: WantedTriage['acknowledged'],
  { severity }: TriagedTicket,
  { at, author }: Change,
): Partial<Triage> {
  if (!wanted) {
    return {
      acknowledged_at: null,
      acknowledged_until: null,
      acknowledged_by: null,
      acknowledged_severity: null,
    };
  }
  return {
    acknowledged_at: at,
    acknowledged_until: wanted.until?.toISOString() ?? null,
    acknowledged_by: author,
    acknowledged_severity: severity,
  };
}
