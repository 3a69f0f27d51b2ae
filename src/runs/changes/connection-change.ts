/** The kinds of changes. Readers treat it as an open set. */
export type ChangeKind =
  | 'setting'
  | 'version'
  | 'restart'
  | 'failover'
  | 'extension'
  | 'standby'
  | 'table'
  | 'column'
  | 'index'
  | 'constraint'
  | 'trigger'
  | 'finding'
  | 'silence'
  | 'threshold'
  // A check that a member wrote.
  | 'check'
  // How many changes were found but not listed, or why something was not compared.
  | 'more';

/** A change before it is stored. */
export interface NewChange {
  kind: ChangeKind;
  /** '' = the whole server. */
  database: string;
  /** The setting, table, index or check. */
  subject: string;
  /** Null = it came. */
  before: string | null;
  /** Null = it went. */
  after: string | null;
  /** Of a setting: where it is set. Of a member's change: the member's name, or "command line". */
  source: string | null;
}

/** A change of a connection, as it is listed. */
export interface ConnectionChange extends Omit<NewChange, 'kind'> {
  id: number;
  /** RFC 3339: the time of the run that found it, or when the member changed it. */
  at: string;
  kind: string;
}

/** A change as it is shown: its time is to the millisecond, as the bounds of lists compare, so that its own time finds it. */
export function showChange<Change extends { at: string }>(change: Change): Change {
  return { ...change, at: new Date(change.at).toISOString() };
}
