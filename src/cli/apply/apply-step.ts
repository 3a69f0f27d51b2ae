import type { Change } from '../../activity/record-entry.ts';

/** What differs between a file and the store. */
export interface Difference {
  action: 'add' | 'change' | 'remove';
  what: 'account' | 'member' | 'connection' | 'silence';
  /** Its name. */
  account: string;
  /** Of an account and a connection its name, of a member the e-mail address, of a silence `connection / check / object`. */
  name: string;
  /** The fields that change; of a secret nothing but its name. */
  changed: string[];
  from: Record<string, unknown>;
  to: Readonly<Record<string, unknown>>;
}

/** A difference, and what takes it away inside a change of its account. */
export interface Step {
  difference: Difference;
  make(change: Change): Promise<unknown>;
}

/** What a list of the file and one of the store make: steps, and those that only `--prune` takes. */
export interface Steps {
  wanted: Step[];
  unnamed: Step[];
}

/** Which fields of `after` are otherwise in `before`, and what they are in each. */
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

/** How a difference is shown, in one line. */
export function lineOf({ action, what, account, name, changed, from, to }: Difference): string {
  const sign = { add: '+', change: '~', remove: '-' }[action];
  const whole = what === 'account' ? account : `${account} / ${name}`;
  const fields = changed.flatMap((field) => {
    if (!(field in to)) return [field];
    if (action === 'change') return [`${field} ${shown(from[field])} -> ${shown(to[field])}`];
    return to[field] === null ? [] : [`${field} ${shown(to[field])}`];
  });
  return `${sign} ${what} ${whole}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`;
}

function shown(value: unknown): string {
  if (value === null) return 'none';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
