import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Alert, AlertDetail } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { fieldError, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { Select, TextField } from '../../parts/field.tsx';
import { InlineError } from '../../parts/states.tsx';
import { type Until, untilChoices, untilOf } from '../../parts/until.ts';
import { zoneWords } from '../../time-zone.ts';
import { useRefreshAlerts } from './alerts-query.ts';

/** Asks until when an alert is acknowledged. */
export function AcknowledgeDialog({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const refresh = useRefreshAlerts();
  const [until, setUntil] = useState<Until>('4h');
  const [at, setAt] = useState('');
  const [note, setNote] = useState('');
  const { error, isPending, mutate } = useMutation({
    mutationFn: () =>
      send<AlertDetail>('POST', `/alerts/${alert.id}/acknowledge`, { until: untilOf(until, at), note }),
    async onSuccess() {
      await refresh();
      notify('Alert acknowledged');
      onClose();
    },
  });
  return (
    <FormDialog
      action="Acknowledge"
      icon="check"
      isPending={isPending}
      onClose={onClose}
      onSubmit={() => mutate()}
      title="Acknowledge alert"
    >
      <p className="quiet">
        “<bdi>{alert.rule_name}</bdi>” on <bdi>{alert.connection_name}</bdi> sends no reminders until then.
        Your team sees that you are working on it.
      </p>
      <Select
        choices={untilChoices()}
        error={until === 'at' ? null : fieldError(error, 'until')}
        label="How long"
        onChange={(id) => setUntil(id as Until)}
        value={until}
      />
      {until === 'at' && (
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
      <TextField
        description="What you found, or what you are doing about it."
        error={fieldError(error, 'note')}
        label="Note"
        maxLength={200}
        onChange={setNote}
        value={note}
      />
      <InlineError error={error} fields={['until', 'note']} />
    </FormDialog>
  );
}
