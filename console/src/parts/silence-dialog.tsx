import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldError, send } from '../api.ts';
import { fieldInstant, zoneWords } from '../time-zone.ts';
import { FormDialog } from './dialog.tsx';
import { RadioGroup, Select, TextField } from './field.tsx';
import { REASONS } from './silence-reasons.ts';
import { InlineError } from './states.tsx';
import { offerUndo } from './undo.ts';

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
  const [scope, setScope] = useState(object === null ? 'check' : 'object');
  const [reason, setReason] = useState<string>('accepted_risk');
  const [note, setNote] = useState('');
  const [end, setEnd] = useState('30d');
  const [at, setAt] = useState('');
  const silence = useMutation({
    mutationFn: () =>
      send<{ id: number }>('POST', `/connections/${connectionId}/silences`, {
        check_id,
        reason,
        note,
        ...(scope === 'object' && object !== null && { object }),
        ...(end !== 'never' && {
          until: end === 'at' ? fieldInstant(at).toISOString().replace(/\.\d+/, '') : end,
        }),
      }),
    async onSuccess({ id }) {
      await onSilenced();
      offerUndo('Finding silenced', async () => {
        await send('POST', `/silences/${id}/undo`);
        await onSilenced();
        return 'Silence undone';
      });
      onClose();
    },
  });
  const { error, isPending } = silence;
  return (
    <FormDialog
      action="Silence"
      icon="silent"
      isPending={isPending}
      onClose={onClose}
      onSubmit={() => silence.mutate()}
      title="Silence finding"
    >
      <p className="quiet">
        While silenced, “<bdi>{title}</bdi>” is listed as skipped, does not affect the score and opens no
        ticket.
      </p>
      {object !== null && (
        <RadioGroup
          choices={[
            { id: 'object', label: `Only \u2068${object}\u2069` },
            { id: 'check', label: `All findings of ${check_id} on this connection` },
          ]}
          label="Scope"
          onChange={setScope}
          value={scope}
        />
      )}
      <Select choices={REASONS} label="Reason" onChange={setReason} value={reason} />
      <TextField
        description="Explain why, for your team."
        error={fieldError(error, 'note')}
        isRequired
        label="Note"
        maxLength={200}
        onChange={setNote}
        value={note}
      />
      <Select
        choices={ENDS}
        error={end === 'at' ? null : fieldError(error, 'until')}
        label="Ends"
        onChange={setEnd}
        value={end}
      />
      {end === 'at' && (
        <TextField
          description={`In ${zoneWords()}.`}
          error={fieldError(error, 'until')}
          isRequired
          label="Time"
          onChange={setAt}
          type="datetime-local"
          value={at}
        />
      )}
      <InlineError error={error} fields={['note', 'until']} />
    </FormDialog>
  );
}
