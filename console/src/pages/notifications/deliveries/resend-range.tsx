import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Destination } from '../../../../../src/console-api/notifications/destination-schemas.ts';
import { fieldError, send } from '../../../api.ts';
import { notify } from '../../../parts/announcer.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { RadioGroup, TextField } from '../../../parts/field.tsx';
import { figure } from '../../../parts/figure.ts';
import { InlineError } from '../../../parts/states.tsx';
import { fieldInstant, fieldValue, zoneWords } from '../../../time-zone.ts';
import type { DeliveryState } from './delivery-states.ts';

const CHOICES: { id: string; label: string; states: DeliveryState[] }[] = [
  { id: 'given_up', label: 'Given up', states: ['given_up'] },
  { id: 'cancelled', label: 'Cancelled', states: ['cancelled'] },
  {
    id: 'all',
    label: 'All, including those already accepted',
    states: ['accepted', 'given_up', 'cancelled'],
  },
];

const DAY_MS = 86_400_000;

/** Sends the deliveries of a range of time again. */
export function ResendRange({ destination, onClose }: { destination: Destination; onClose: () => void }) {
  const [first] = useState(() => ({
    from: fieldValue(Date.now() - DAY_MS),
    to: fieldValue(Date.now() + 60_000),
  }));
  const [range, setRange] = useState(first);
  const [choice, setChoice] = useState('given_up');
  const queries = useQueryClient();
  const resend = useMutation({
    mutationFn: () =>
      send<{ queued: number }>('POST', `/destinations/${destination.id}/resend`, {
        from: fieldInstant(range.from).toISOString(),
        to: fieldInstant(range.to).toISOString(),
        states: CHOICES.find(({ id }) => id === choice)?.states ?? [],
      }),
    async onSuccess({ queued }) {
      await queries.invalidateQueries({ queryKey: ['destinations'] });
      onClose();
      notify(queued === 1 ? '1 delivery is sent again' : `${figure(queued)} deliveries are sent again`);
    },
  });
  const { error } = resend;
  return (
    <FormDialog
      action="Send again"
      isDisabled={range.from === '' || range.to === ''}
      isPending={resend.isPending}
      onClose={onClose}
      onSubmit={() => resend.mutate()}
      title="Send a range again"
    >
      <InlineError error={error} fields={['from', 'to', 'states']} />
      <p className="quiet">
        Deliveries keep their event id, so a receiver can recognise what it already has.
      </p>
      <div className="resend-range">
        <TextField
          description={`In ${zoneWords()}.`}
          error={fieldError(error, 'from')}
          isRequired
          label="From"
          onChange={(from) => setRange({ ...range, from })}
          type="datetime-local"
          value={range.from}
        />
        <TextField
          description={`In ${zoneWords()}.`}
          error={fieldError(error, 'to')}
          isRequired
          label="To"
          onChange={(to) => setRange({ ...range, to })}
          type="datetime-local"
          value={range.to}
        />
      </div>
      <RadioGroup
        choices={CHOICES}
        error={fieldError(error, 'states')}
        label="Which deliveries"
        onChange={setChoice}
        value={choice}
      />
    </FormDialog>
  );
}
