import type { ChangeAccount } from './record-entry.ts';

/** Records that entries were read out of the log: in which format, by which filter, and up to which entry. */
export function recordExport(
  change: ChangeAccount,
  exported: { format: 'ndjson' | 'csv'; filter: Record<string, unknown>; last_id: number },
): Promise<void> {
  return change(async ({ record }) => record('activity_exported', '/activity', { ...exported }));
}
