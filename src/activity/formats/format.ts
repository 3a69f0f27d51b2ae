import { toEcs } from './ecs.ts';
import { toOcsf } from './ocsf.ts';
import type { ShownEntry } from './shown-entry.ts';

/** The shapes in which entries are given to a SIEM. */
export const ENTRY_FORMATS = ['native', 'ocsf', 'ecs'] as const;

export type EntryFormat = (typeof ENTRY_FORMATS)[number];

/** An entry in a format. Ids begin at 1 in each account, so `accountId` makes the event's own id unique; null = it stays the id. */
export function formatEntry(format: EntryFormat, entry: ShownEntry, accountId: number | null): object {
  if (format === 'ocsf') return toOcsf(entry, accountId);
  return format === 'ecs' ? toEcs(entry, accountId) : entry;
}
