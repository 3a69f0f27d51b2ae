import type { Destination } from '../../../../../src/console-api/notifications/destination-schemas.ts';
import { send } from '../../../api.ts';
import { notify } from '../../../parts/announcer.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { RadioGroup } from '../../../parts/field.tsx';
import { figure } from '../../../parts/figure.ts';
import { TimeField } from '../../../parts/time-field.tsx';
import { useAction } from '../../../parts/use-action.ts';
import { useDraft } from '../../../parts/use-draft.ts';
import { fieldInstant, fieldValue } from '../../../time-zone.ts';
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
  const { draft, bind } = useDraft(() => ({
    from: fieldValue(Date.now() - DAY_MS),
    to: fieldValue(Date.now() + 60_000),
    choice: 'given_up',
  }));
  const { from, to, choice } = draft;
  const resend = useAction({
    request: () =>
      send<{ queued: number }>('POST', `/destinations/${destination.id}/resend`, {
        from: fieldInstant(from).toISOString(),
        to: fieldInstant(to).toISOString(),
        states: CHOICES.find(({ id }) => id === choice)?.states ?? [],
      }),
    renews: ['destinations'],
    onDone({ queued }) {
      onClose();
      notify(queued === 1 ? '1 delivery is sent again' : `${figure(queued)} deliveries are sent again`);
    },
  });
  return (
    <FormDialog
      action="Send again"
      isDisabled={from === '' || to === ''}
      onClose={onClose}
      title="Send a range again"
      work={resend}
    >
      <p className="quiet">
        Deliveries keep their event id, so a receiver can recognise what it already has.
      </p>
      <div className="resend-range">
        <TimeField {...bind('from')} label="From" />
        <TimeField {...bind('to')} label="To" />
      </div>
      <RadioGroup {...bind('choice', 'states')} choices={CHOICES} label="Which deliveries" />
    </FormDialog>
  );
}
