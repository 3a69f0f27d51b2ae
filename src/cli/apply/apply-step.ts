import type { Change } from '../../activity/record-entry.ts';
import { cell } from '../print.ts';

/** A difference between a file and the store. */
export interface Difference {
  action: 'add' | 'change' | 'remove';
  what:
    | 'account'
    | 'member'
    | 'connection'
    | 'silence'
    | 'alert rule'
    | 'destination'
    | 'maintenance'
    | 'own check'
    | 'thresholds';
  /** The account's name. */
  account: string;
  /**
   * The name of an account, connection, alert rule or destination, the e-mail address of a member, the id of an own check, or `connection / check / object` of a
   * silence; of thresholds, `all connections` or a tag.
   */
  name: string;
  /** The names of the fields that change. The values of secrets are never included. */
  changed: string[];
  from: Record<string, unknown>;
  to: Readonly<Record<string, unknown>>;
}

/** A difference, and how to resolve it inside a change of its account. */
export interface Step {
  difference: Difference;
  make(change: Change): Promise<unknown>;
}

/** The steps that a list needs, and those that are done only with `--prune`. */
export interface Steps {
  wanted: Step[];
  unnamed: Step[];
}

/** The fields of `after` that differ from `before`, with both values. */
export function changesOf<Fields extends object>(
  before: { [Field in keyof Fields]?: unknown },
  after: Fields,
) {
  const from: Record<string, unknown> = {};
  const to: Partial<Fields> = {};
  const changed: string[] = [];
  for (const field in after) {
    if (JSON.stringify(before[field]) === JSON.stringify(after[field])) continue;
    changed.push(field);
    if (before[field] !== undefined) from[field] = before[field];
    to[field] = after[field];
  }
  return { changed, from, to };
}

/** Formats a difference as one line. */
export function lineOf({ action, what, account, name, changed, from, to }: Difference): string {
  const sign = { add: '+', change: '~', remove: '-' }[action];
  const whole = what === 'account' ? account : `${account} / ${name}`;
  const fields = changed.flatMap((field) => {
    if (!(field in to)) return [field];
    if (action === 'change') return [`${field} ${shown(from[field])} -> ${shown(to[field])}`];
    return to[field] === null ? [] : [`${field} ${shown(to[field])}`];
  });
  // Members write some of these texts: none may look like a line of its own.
  return cell(`${sign} ${what} ${whole}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`);
}

function shown(value: unknown): string {
  if (value === null) return 'none';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(shown).join(' ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
