import { useMutation } from '@tanstack/react-query';
import type { Maintenance } from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { fieldError, send } from '../../../api.ts';
import { notify } from '../../../parts/announcer.tsx';
import { ConnectionChoice, SCOPE_FIELDS } from '../../../parts/connection-choice.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { Checkbox, RadioGroup, TextField } from '../../../parts/field.tsx';
import { InlineError } from '../../../parts/states.tsx';
import { useDraft } from '../../../parts/use-draft.ts';
import { zoneWords } from '../../../time-zone.ts';
import { useRefreshAlerts } from '../alerts-query.ts';
import { instantError, newWindow, type WindowDraft, windowOf } from './window-draft.ts';
import { draftSentence, missingText, WEEKDAYS } from './window-text.ts';

const FIELDS = [
  'name',
  'starts_at',
  'ends_at',
  'weekdays',
  'start_time',
  'time_zone',
  'minutes',
  ...SCOPE_FIELDS,
];

/** Adds a maintenance window. A sentence below the fields says when it happens. */
export function WindowForm({ onClose }: { onClose: () => void }) {
  const refresh = useRefreshAlerts();
  const { draft, isChanged, change } = useDraft<WindowDraft>(newWindow);
  const wanted = windowOf(draft);
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => send<Maintenance>('POST', '/maintenance', wanted),
    async onSuccess() {
      await refresh();
      notify('Maintenance window added');
      onClose();
    },
  });
  return (
    <FormDialog
      action="Add window"
      isChanged={isChanged}
      isPending={isPending}
      onClose={onClose}
      onSubmit={() => mutate()}
      title="Add a maintenance window"
    >
      <TextField
        description="Such as “Upgrade to PostgreSQL 18”."
        error={fieldError(error, 'name')}
        isRequired
        label="Name"
        maxLength={200}
        onChange={(name) => change({ name })}
        value={draft.name}
      />
      <RadioGroup
        choices={[
          { id: 'once', label: 'Once' },
          { id: 'weekly', label: 'Every week' },
        ]}
        label="Repeats"
        onChange={(repeats) => change({ repeats: repeats as WindowDraft['repeats'] })}
        value={draft.repeats}
      />
      {draft.repeats === 'once' ? (
        <OnceFields draft={draft} error={error} onChange={change} />
      ) : (
        <WeeklyFields draft={draft} error={error} onChange={change} />
      )}
      <ConnectionChoice draft={draft} error={error} onChange={change} />
      <p className="rule-sentence" role="status">
        {draftSentence(wanted) ?? missingText(draft)}
      </p>
      <InlineError error={error} fields={FIELDS} />
    </FormDialog>
  );
}

interface FieldsProps {
  draft: WindowDraft;
  error: unknown;
  onChange: (changed: Partial<WindowDraft>) => void;
}

function OnceFields({ draft, error, onChange }: FieldsProps) {
  return (
    <div className="rule-row">
      <TextField
        description={`In ${zoneWords()}. Leave empty to start now.`}
        error={instantError(draft.starts) ?? fieldError(error, 'starts_at')}
        label="Starts"
        onChange={(starts) => onChange({ starts })}
        type="datetime-local"
        value={draft.starts}
      />
      <TextField
        description={`In ${zoneWords()}.`}
        error={instantError(draft.ends) ?? fieldError(error, 'ends_at')}
        isRequired
        label="Ends"
        onChange={(ends) => onChange({ ends })}
        type="datetime-local"
        value={draft.ends}
      />
    </div>
  );
}

function WeeklyFields({ draft, error, onChange }: FieldsProps) {
  const { weekdays } = draft;
  const trouble = fieldError(error, 'weekdays');
  return (
    <>
      <fieldset className="window-days field-group">
        <legend className="field-label">Weekdays</legend>
        <div className="window-day-boxes">
          {WEEKDAYS.map((name, place) => (
            <Checkbox
              isSelected={weekdays.includes(place + 1)}
              key={name}
              onChange={(isChosen) =>
                onChange({
                  weekdays: isChosen ? [...weekdays, place + 1] : weekdays.filter((day) => day !== place + 1),
                })
              }
            >
              {name}
            </Checkbox>
          ))}
        </div>
        {trouble !== null && (
          <p className="field-error" role="alert">
            {trouble}
          </p>
        )}
      </fieldset>
      <div className="rule-row">
        <TextField
          error={fieldError(error, 'start_time')}
          isRequired
          label="Starts at"
          onChange={(time) => onChange({ time })}
          type="time"
          value={draft.time}
        />
        <TextField
          error={fieldError(error, 'minutes')}
          isRequired
          label="Duration (hours)"
          onChange={(hours) => onChange({ hours })}
          value={draft.hours}
        />
        <TextField
          error={fieldError(error, 'time_zone')}
          isRequired
          label="Time zone"
          onChange={(zone) => onChange({ zone })}
          value={draft.zone}
        />
      </div>
    </>
  );
}
