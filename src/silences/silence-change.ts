import type { NewChange } from '../changes/connection-change.ts';
import { titleOf } from '../checks/catalogue.ts';
import type { SilenceRow } from './silence-row.ts';

/** A silence that came or went, for the connection's list of changes. `source` is a member's name, or how it ended. */
export function silenceChange(
  what: 'came' | 'went',
  { check_id, object, reason, until }: Pick<SilenceRow, 'check_id' | 'object' | 'reason' | 'until'>,
  source: string,
): NewChange {
  const title = titleOf(check_id) ?? check_id;
  const subject = object === null ? title : `${title}: ${object}`;
  const text = what === 'came' && until !== null ? `${reason} until ${until.toISOString()}` : reason;
  const [before, after] = what === 'came' ? [null, text] : [text, null];
  return { kind: 'silence', database: '', subject, before, after, source };
}
