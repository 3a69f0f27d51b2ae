import { send } from '../api.ts';
import { fieldInstant } from '../time-zone.ts';
import { FormDialog } from './dialog.tsx';
import { RadioGroup, Select, TextField } from './field.tsx';
import { REASONS } from './silence-reasons.ts';
import { TimeField } from './time-field.tsx';
import { offerUndo } from './undo.ts';
import { useAction } from './use-action.ts';
import { useDraft } from './use-draft.ts';

const ENDS = [
  { id: '1d', label: 'In a day' },
  { id: '7d', label: 'In a week' },
  { id: '30d', label: 'In 30 days' },
  { id: '90d', label: 'In 90 days' },
  { id: 'at', label: 'Custom date' },
  { id: 'never', label: 'Never' },
];

interface SilenceDialogProps {
  connectionId: number;
  /** What to silence: a finding, or the ticket of one. */
  finding: { check_id: string; title: string; object: string | null };
  onClose: () => void;
  /** Reads again what the silence changed. */
  onSilenced: () => Promise<unknown>;
}

/** Asks for the reason and end of a silence. The finding's open ticket is resolved immediately. */
export function SilenceDialog({ connectionId, finding, onClose, onSilenced }: SilenceDialogProps) {
  const { check_id, title, object } = finding;
  const { draft, bind } = useDraft({
    scope: object === null ? 'check' : 'object',
    reason: 'accepted_risk',
    note: '',
    end: '30d',
    at: '',
  });
  const { scope, reason, note, end, at } = draft;
  const silence = useAction({
    request: () =>
      send<{ id: number }>('POST', `/connections/${connectionId}/silences`, {
        check_id,
        reason,
        note,
        ...(scope === 'object' && object !== null && { object }),
        ...(end !== 'never' && {
          until: end === 'at' ? fieldInstant(at).toISOString().replace(/\.\d+/, '') : end,
        }),
      }),
    async onDone({ id }) {
      await onSilenced();
      offerUndo('Finding silenced', async () => {
        await send('POST', `/silences/${id}/undo`);
        await onSilenced();
        return 'Silence undone';
      });
      onClose();
    },
  });
  return (
    <FormDialog action="Silence" icon="silent" onClose={onClose} title="Silence finding" work={silence}>
      <p className="quiet">
        While silenced, “<bdi>{title}</bdi>” is listed as skipped, does not affect the score and opens no
        ticket.
      </p>
      {object !== null && (
        <RadioGroup
          {...bind('scope')}
          choices={[
            { id: 'object', label: `Only \u2068${object}\u2069` },
            { id: 'check', label: `All findings of ${check_id} on this connection` },
          ]}
          label="Scope"
        />
      )}
      <Select {...bind('reason')} choices={REASONS} label="Reason" />
      <TextField
        {...bind('note')}
        description="Explain why, for your team."
        isRequired
        label="Note"
        maxLength={200}
      />
      <Select {...bind('end', end === 'at' ? [] : 'until')} choices={ENDS} label="Ends" />
      {end === 'at' && <TimeField {...bind('at', 'until')} />}
    </FormDialog>
  );
}
