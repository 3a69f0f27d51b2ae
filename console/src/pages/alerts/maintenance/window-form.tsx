import type { Maintenance } from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { send } from '../../../api.ts';
import { ConnectionChoice } from '../../../parts/connection-choice.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { Checkboxes, RadioGroup, TextField } from '../../../parts/field.tsx';
import { TimeField } from '../../../parts/time-field.tsx';
import { useAction } from '../../../parts/use-action.ts';
import { bindTo, type FieldsProps, useDraft } from '../../../parts/use-draft.ts';
import { instantError, newWindow, type WindowDraft, windowOf } from './window-draft.ts';
import { draftSentence, missingText, WEEKDAYS } from './window-text.ts';

/** Adds a maintenance window. A sentence below the fields says when it happens. */
export function WindowForm({ onClose }: { onClose: () => void }) {
  const { draft, isChanged, change, bind } = useDraft<WindowDraft>(newWindow);
  const wanted = windowOf(draft);
  const add = useAction({
    request: () => send<Maintenance>('POST', '/maintenance', wanted),
    renews: ['alerts'],
    done: 'Maintenance window added',
    onDone: onClose,
  });
  return (
    <FormDialog
      action="Add window"
      isChanged={isChanged}
      onClose={onClose}
      title="Add a maintenance window"
      work={add}
    >
      <TextField
        {...bind('name')}
        description="Such as “Upgrade to PostgreSQL 18”."
        isRequired
        label="Name"
        maxLength={200}
      />
      <RadioGroup
        {...bind('repeats')}
        choices={[
          { id: 'once', label: 'Once' },
          { id: 'weekly', label: 'Every week' },
        ]}
        label="Repeats"
      />
      {draft.repeats === 'once' ? (
        <OnceFields draft={draft} onChange={change} />
      ) : (
        <WeeklyFields draft={draft} onChange={change} />
      )}
      <ConnectionChoice draft={draft} onChange={change} />
      <p className="rule-sentence" role="status">
        {draftSentence(wanted) ?? missingText(draft)}
      </p>
    </FormDialog>
  );
}

function OnceFields({ draft, onChange }: FieldsProps<WindowDraft>) {
  const bind = bindTo(draft, onChange);
  return (
    <div className="rule-row">
      <TimeField
        {...bind('starts', 'starts_at')}
        error={instantError(draft.starts)}
        isRequired={false}
        label="Starts"
        note="Leave empty to start now."
      />
      <TimeField {...bind('ends', 'ends_at')} error={instantError(draft.ends)} label="Ends" />
    </div>
  );
}

const DAYS = WEEKDAYS.map((label, place) => ({ id: place + 1, label }));

function WeeklyFields({ draft, onChange }: FieldsProps<WindowDraft>) {
  const bind = bindTo(draft, onChange);
  return (
    <>
      <Checkboxes
        choices={DAYS}
        className="window-days"
        label="Weekdays"
        onChange={(weekdays) => onChange({ weekdays })}
        parameter="weekdays"
        value={draft.weekdays}
      />
      <div className="rule-row">
        <TextField {...bind('time', 'start_time')} isRequired label="Starts at" type="time" />
        <TextField {...bind('hours', 'minutes')} isRequired label="Duration (hours)" />
        <TextField {...bind('zone', 'time_zone')} isRequired label="Time zone" />
      </div>
    </>
  );
}
