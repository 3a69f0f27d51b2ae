import { titleOf } from '../../checks/catalogue.ts';
import type { NewChange } from '../../runs/changes/connection-change.ts';
import { SILENCE_REASONS } from '../../vocabulary/silence-reasons.ts';
import type { SilenceRow } from './silence-row.ts';

/** A silence that came or went, for the connection's list of changes. `source` is a member's name, or how it ended. */
export function silenceChange(
  what: 'came' | 'went',
  { check_id, object, reason, until }: Pick<SilenceRow, 'check_id' | 'object' | 'reason' | 'until'>,
  source: string,
): NewChange {
  const title = titleOf(check_id) ?? check_id;
  const subject = object === null ? title : `${title}: ${object}`;
  const words = SILENCE_REASONS[reason];
  const text =
    what === 'came' && until !== null
      ? `${words} until ${until.toISOString().slice(0, 16).replace('T', ' ')} UTC`
      : words;
  const [before, after] = what === 'came' ? [null, text] : [text, null];
  return { kind: 'silence', database: '', subject, before, after, source };
}
