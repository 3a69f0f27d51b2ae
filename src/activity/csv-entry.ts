import { csvText } from '../platform/text/csv-text.ts';
import { type CanonicalEntry, canonicalJson } from './canonical-entry.ts';

const COLUMNS = [
  ...(['id', 'occurred_at', 'action_type', 'page_path', 'status', 'method', 'error_code', 'query'] as const),
  ...(['request_id', 'api_key_id', 'source_ip', 'user_agent', 'properties'] as const),
];

/** The header line of the CSV form (RFC 4180). */
export const csvHeader = `${COLUMNS.join(',')}\r\n`;

/** The columns of an entry. */
export type CsvEntry = Pick<CanonicalEntry, (typeof COLUMNS)[number]>;

/** An entry as a line: objects as JSON, null as an empty field. */
export function csvRow(entry: CsvEntry): string {
  return `${COLUMNS.map((name) => csvCell(entry[name])).join(',')}\r\n`;
}

/** A value as a field of CSV: null is empty, and objects are JSON. */
export function csvCell(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  return csvText(typeof value === 'string' ? value : canonicalJson(value));
}
