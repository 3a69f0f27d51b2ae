import type { ChangeAccount } from '../../activity/record-entry.ts';
import {
  propertiesOf,
  readTriage,
  recordAcknowledgement,
  type SeenTicket,
  type SkippedTicket,
  type Triage,
  type TriageResult,
  writeTriage,
} from './triage-row.ts';

const selectNames = `select member_id as id, name from member where account_id = $1 and member_id = any($2::bigint[]) and status = 'active'`;

/**
 * Undoes the last change of each ticket, with the author and time of what it restores. Skips tickets that somebody
 * changed since. A member who has left or is suspended is not assigned again. Throws `notFound` if one does not exist.
 */
export function undoTriage(change: ChangeAccount, tickets: readonly SeenTicket[]): Promise<TriageResult> {
  return change(async (within) => {
    const { accountId, client, at, author, record } = within;
    const rows = await readTriage(within, tickets);
    const seen = new Map(tickets.map(({ id, version }) => [id, version]));
    const skipped: SkippedTicket[] = [];
    const next: (Triage & { ticket_id: number; before: null })[] = [];
    const restored = rows.map(({ before }) => before?.assignee_id ?? null);
    const { rows: members } = await client.query<{ id: number; name: string }>(selectNames, [
      accountId,
      restored,
    ]);
    const names = new Map(members.map(({ id, name }) => [id, name]));
    for (const row of rows) {
      const { ticket_id, triage, before } = row;
      if (before === null || row.version !== seen.get(ticket_id)) {
        skipped.push({ id: ticket_id, reason: 'changed', by: row.changed_by });
        continue;
      }
      const page = `/tickets?ticket=${ticket_id}`;
      const properties = { ...propertiesOf(row), undone: true };
      const assignee_name = names.get(before.assignee_id ?? 0) ?? null;
      const assignee_id = assignee_name === null ? null : before.assignee_id;
      if (assignee_id !== triage.assignee_id) {
        record('ticket_assigned', page, { ...properties, assignee_id, assignee_name });
      }
      if (instantOf(before) !== instantOf(triage)) {
        recordAcknowledgement(within, page, properties, { before: triage, after: before });
      }
      next.push({ ...before, assignee_id, ticket_id, before: null });
    }
    return { changed: await writeTriage(client, { accountId, at, author }, next), skipped };
  });
}

function instantOf({ acknowledged_at: at }: Triage): number | null {
  return at === null ? null : Date.parse(at);
}
