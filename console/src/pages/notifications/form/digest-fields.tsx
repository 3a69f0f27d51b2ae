import { DIGEST_DAYS } from '../../../../../src/vocabulary/event-kinds.ts';
import { fieldError } from '../../../api.ts';
import { Select, TextField } from '../../../parts/field.tsx';
import { DIGEST_DAY_TEXTS } from '../digest-texts.ts';
import type { DestinationDraft } from './destination-draft.ts';
import type { DestinationFieldsProps } from './destination-form.tsx';

const CHOICES = [
  { id: 'never', label: 'Never' },
  ...DIGEST_DAYS.map((id) => ({ id, label: DIGEST_DAY_TEXTS[id] })),
];

/** When a digest is sent. */
export function DigestFields({ draft, onChange, error }: DestinationFieldsProps) {
  return (
    <>
      <Select
        choices={CHOICES}
        description="What opened, closed, stayed open and grew, on one screen. It is sent without problems too."
        label="Digest"
        onChange={(id) => onChange({ digest: id as DestinationDraft['digest'] })}
        value={draft.digest}
      />
      {draft.digest !== 'never' && (
        <div className="side-by-side">
          <TextField
            isRequired
            label="Digest at"
            onChange={(digestAt) => onChange({ digestAt })}
            type="time"
            value={draft.digestAt}
          />
          <TextField
            error={fieldError(error, 'digest')}
            isRequired
            label="Time zone of the digest"
            maxLength={60}
            onChange={(digestZone) => onChange({ digestZone })}
            value={draft.digestZone}
          />
        </div>
      )}
    </>
  );
}
