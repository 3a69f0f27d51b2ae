import { useState } from 'react';
import { FormDialog } from '../../parts/dialog.tsx';
import { local } from '../../parts/time.tsx';
import { TimeField } from '../../parts/time-field.tsx';
import { type Until, untilChoices, untilOf } from '../../parts/until.ts';
import { fieldInstant } from '../../time-zone.ts';
import { ChooseDialog } from './choose-dialog.tsx';

interface SnoozeDialogProps {
  title: string;
  /** `until` as the service takes it. */
  onSnooze: (until: string) => void;
  onClose: () => void;
}

/** Asks until when tickets leave the list of open ones. */
export function SnoozeDialog({ title, onSnooze, onClose }: SnoozeDialogProps) {
  const [isCustom, setCustom] = useState(false);
  const [at, setAt] = useState('');
  if (!isCustom) {
    return (
      <ChooseDialog
        // Until it is resolved is no snooze: it is an acknowledgement.
        choices={untilChoices().filter(({ id }) => id !== 'resolved')}
        onChoose={(id) => (id === 'at' ? setCustom(true) : onSnooze(untilOf(id as Until, '') ?? ''))}
        onClose={onClose}
        title={title}
      />
    );
  }
  const isPast = at !== '' && !(fieldInstant(at).getTime() > Date.now());
  return (
    <FormDialog
      action="Snooze"
      icon="clock"
      isDisabled={at === '' || isPast}
      onClose={onClose}
      onSubmit={() => onSnooze(untilOf('at', at) ?? '')}
      title={title}
    >
      <TimeField
        autoFocus
        error={isPast ? 'Enter a time in the future.' : null}
        label="Until"
        onChange={setAt}
        value={at}
      />
    </FormDialog>
  );
}

/** How a notice says the end of a snooze. */
export function snoozedUntil(until: string): string {
  return `snoozed until ${local(until)}`;
}
