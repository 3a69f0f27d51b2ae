import { type EntryRow, type KeyNames, writeEntry } from './write-entry.ts';

/** The row about a page of the log: the first of the statement's. */
export interface LogHead {
  id: null;
  total: number;
  /** The instant of the log's last entry; null = it is empty. */
  newest: string | null;
  ends_open: boolean;
  key_names: KeyNames | null;
}

/** A page of the log: its entries as JSON, and what its head says. */
export interface WrittenPage extends Pick<LogHead, 'total' | 'newest' | 'ends_open'> {
  entries: string[];
}

/** Writes the entries of a page that was read column by column. */
export function writeRows([head, ...rows]: readonly (LogHead | EntryRow)[]): WrittenPage {
  if (head?.id !== null) throw new Error('a page of the log has no head');
  const known = new Map<string, string>();
  const entries = (rows as EntryRow[]).map((row) => writeEntry(row, head.key_names, known));
  const { total, newest, ends_open } = head;
  return { entries, total, newest, ends_open };
}
