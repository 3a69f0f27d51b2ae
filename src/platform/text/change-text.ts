/** Something that changed. All texts may come from a monitored server: untrusted. */
export interface Change {
  id: number;
  /** RFC 3339. */
  at: string;
  kind: string;
  /** '' for the whole server. */
  database: string;
  subject: string;
  /** Null: it was added. */
  before: string | null;
  /** Null: it was removed. */
  after: string | null;
  /** Where a setting comes from, or the member who made the change. */
  source: string | null;
}

const KINDS: Readonly<Record<string, string>> = {
  setting: 'Setting',
  version: 'Version',
  restart: 'Restart',
  failover: 'Failover',
  extension: 'Extension',
  standby: 'Standby',
  table: 'Table',
  column: 'Column',
  index: 'Index',
  constraint: 'Constraint',
  trigger: 'Trigger',
  finding: 'Finding',
  silence: 'Silence',
  threshold: 'Threshold',
  check: 'Own check',
  more: 'More changes',
};

/** The kinds of changes, in the order of a filter. */
export const CHANGE_KINDS = Object.keys(KINDS);

/** The kind as a word; an unknown kind is shown as it is. */
export function kindText(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** Definitions of indexes can be long. */
const LONGEST = 80;

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** The words for a subject that came and one that went. */
export function cameAndWent(kind: string): { came: string; went: string } {
  return kind === 'finding' ? { came: 'New', went: 'Gone, was' } : { came: 'Added', went: 'Removed' };
}

/** What happened to the subject: `Added`, `Gone, was warning`, or `4MB → 64MB`. */
function beforeAfter({ kind, before, after }: Change): string {
  if (before !== null && after !== null) return `${cut(before)} → ${cut(after)}`;
  const { came, went } = cameAndWent(kind);
  if (after !== null) return `${came} ${cut(after)}`;
  return before === null ? '' : `${went} ${cut(before)}`;
}

/** A change in one line: `Setting work_mem: 4MB → 64MB`. */
export function changeText(change: Change): string {
  const subject = [kindText(change.kind), change.subject].filter((word) => word !== '').join(' ');
  const place = change.database && ` in ${change.database}`;
  const values = beforeAfter(change);
  return `${subject}${place}${values && `: ${values}`}`;
}
