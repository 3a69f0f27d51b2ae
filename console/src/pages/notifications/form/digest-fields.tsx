import { DIGEST_DAYS } from '../../../../../src/vocabulary/event-kinds.ts';
import { Select, TextField } from '../../../parts/field.tsx';
import { bindTo } from '../../../parts/use-draft.ts';
import { DIGEST_DAY_TEXTS } from '../digest-texts.ts';
import type { DestinationFieldsProps } from './destination-form.tsx';

const CHOICES = [
  { id: 'never', label: 'Never' },
  ...DIGEST_DAYS.map((id) => ({ id, label: DIGEST_DAY_TEXTS[id] })),
];

/** When a digest is sent. */
export function DigestFields({ draft, onChange }: DestinationFieldsProps) {
  const bind = bindTo(draft, onChange);
  return (
    <>
      <Select
        // What is wrong with a schedule is its time zone: the sentence stands there, once.
        {...bind('digest', draft.digest === 'never' ? 'digest' : 'digest_day')}
        choices={CHOICES}
        description="What opened, closed, stayed open and grew, on one screen. It is sent without problems too."
        label="Digest"
      />
      {draft.digest !== 'never' && (
        <div className="side-by-side">
          <TextField {...bind('digestAt')} isRequired label="Digest at" type="time" />
          <TextField
            {...bind('digestZone', 'digest')}
            isRequired
            label="Time zone of the digest"
            maxLength={60}
          />
        </div>
      )}
    </>
  );
}
