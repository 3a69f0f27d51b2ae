/** An entry as endpoint 6 shows it. */
export interface ShownEntry {
  id: number;
  action_type: string;
  page_path: string;
  properties: Readonly<Record<string, unknown>>;
  /** RFC 3339 with milliseconds. */
  occurred_at: string;
}
