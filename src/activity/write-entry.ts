/** An entry as its page's statement returns it; JSON and the time are as PostgreSQL writes them, in UTC. */
export interface EntryRow {
  id: number;
  action_type: string;
  page_path: string;
  occurred_at: string;
  /** null = an API request, which has columns of its own. */
  properties: string | null;
  request_id: string | null;
  api_key_id: number | null;
  status: number | null;
  method: string | null;
  error_code: string | null;
  query: string | null;
  source_ip: string | null;
  user_agent: string | null;
}

/** The names of a page's keys by their ids. */
export type KeyNames = Readonly<Record<string, string>>;

/** Writes an entry as JSON, column by column (docs/decisions/0006). `known` keeps the JSON columns of its page that were written. */
export function writeEntry(row: EntryRow, keyNames: KeyNames | null, known: Map<string, string>): string {
  const properties =
    row.properties === null ? writeRequest(row, keyNames, known) : compact(row.properties, known);
  const { id, action_type, page_path } = row;
  return `{"id":${id},"action_type":${text(action_type)},"page_path":${text(page_path)},"properties":${properties},"occurred_at":"${isoTime(row.occurred_at)}"}`;
}

function writeRequest(row: EntryRow, keyNames: KeyNames | null, known: Map<string, string>): string {
  const { api_key_id: key, method, status, error_code, request_id, source_ip, user_agent } = row;
  const query = row.query === null ? '{}' : compact(row.query, known);
  const name = key === null ? null : (keyNames?.[key] ?? null);
  return `{"method":${text(method)},"status":${status},"error_code":${text(error_code)},"query":${query},"request_id":${text(request_id)},"api_key_id":${key},"api_key_name":${text(name)},"source_ip":${text(source_ip)},"user_agent":${text(user_agent)}}`;
}

const text = (value: string | null) => (value === null ? 'null' : JSON.stringify(value));

/**
 * JSON without the blanks that PostgreSQL writes, and with its numbers as JavaScript reads them. `known` keeps what was written of
 * a page.
 */
export function compact(json: string, known: Map<string, string>): string {
  let written = known.get(json);
  if (written === undefined) {
    written = JSON.stringify(JSON.parse(json));
    known.set(json, written);
  }
  return written;
}

/** `2026-11-23 11:47:44.1234+00` in the form of `toISOString`, which cuts the microseconds; or with more `digits` of a second. */
export function isoTime(time: string, digits = 3): string {
  const fraction = time.slice(20, -3).padEnd(digits, '0').slice(0, digits);
  return `${time.slice(0, 10)}T${time.slice(11, 19)}.${fraction}Z`;
}
