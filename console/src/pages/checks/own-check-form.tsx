import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  ShownOwnCheck,
  TriedOwnCheck,
  TryOwnCheckBody,
} from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { ENGINE_NAMES, SQL_ENGINES } from '../../../../src/vocabulary/engines.ts';
import { fieldError, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { Select, TextField } from '../../parts/field.tsx';
import { InlineError } from '../../parts/states.tsx';
import { thresholdLabel } from '../../parts/threshold-value.ts';
import { useDraft } from '../../parts/use-draft.ts';
import {
  hasLevels,
  levelIn,
  newDraft,
  type OwnCheckDraft,
  toChangedCheck,
  toCheckId,
  toDraft,
  toNewCheck,
  toTrial,
} from './own-check-draft.ts';
import { useRefreshOwnChecks } from './own-checks-query.ts';
import { everyChoices } from './reading-times.ts';
import { TryOwnCheck } from './try-own-check.tsx';

/** The parameters whose errors stand at their fields. */
const FIELDS = [
  'id',
  'title',
  'engine',
  'database',
  'sql',
  'unit',
  'operator',
  'warning',
  'critical',
  'remediation',
  'every',
  'timeout',
  'tags',
  'connection_id',
];

const ENGINE_CHOICES = SQL_ENGINES.map((id) => ({ id, label: ENGINE_NAMES[id] }));

const UNITS: readonly { id: OwnCheckDraft['unit']; label: string }[] = [
  { id: 'count', label: 'A number' },
  { id: 'ratio', label: 'A share: 0.5 is 50 %' },
  { id: 'bytes', label: 'Bytes' },
  { id: 'seconds', label: 'Seconds' },
  { id: 'per_second', label: 'A rate per second' },
];

const OPERATORS: readonly { id: OwnCheckDraft['operator']; label: string }[] = [
  { id: '>=', label: 'From the level on' },
  { id: '<=', label: 'From the level down' },
];

/** The form for a new own check. */
export function AddOwnCheck({ onClose }: { onClose: () => void }) {
  return (
    <OwnCheckForm
      action="Add check"
      first={newDraft()}
      onClose={onClose}
      request={(draft) => send<ShownOwnCheck>('POST', '/own-checks', toNewCheck(draft))}
      title="Add an own check"
    />
  );
}

/** The form for an existing one. Its id stays. */
export function ChangeOwnCheck({ own, onClose }: { own: ShownOwnCheck; onClose: () => void }) {
  // As it was opened: somebody else may change it meanwhile.
  const [opened] = useState(own);
  return (
    <OwnCheckForm
      action="Save"
      first={toDraft(opened)}
      isStored
      onClose={onClose}
      request={(draft) =>
        send<ShownOwnCheck>('PATCH', `/own-checks/${opened.id}`, toChangedCheck(draft, opened))
      }
      title={`Change ${opened.title}`}
    />
  );
}

interface FormProps {
  action: string;
  title: string;
  first: OwnCheckDraft;
  isStored?: boolean;
  request: (draft: OwnCheckDraft) => Promise<ShownOwnCheck>;
  onClose: () => void;
}

function OwnCheckForm({ action, title, first, isStored = false, request, onClose }: FormProps) {
  const { draft, isChanged, change: edit } = useDraft(() => first);
  const refresh = useRefreshOwnChecks();
  const save = useMutation({
    mutationFn: () => request(draft),
    async onSuccess({ connections }) {
      await refresh();
      notify(
        connections === 0
          ? 'Check saved. No connection has its engine and tags yet.'
          : `Check saved. The next health check of ${connections === 1 ? 'its connection' : `its ${connections.toLocaleString('en')} connections`} runs it.`,
      );
      onClose();
    },
  });
  const trial = useMutation({
    mutationFn: (body: TryOwnCheckBody) => send<TriedOwnCheck>('POST', '/own-checks/try', body),
    gcTime: 0,
    onMutate: () => save.reset(),
  });
  const change = (changed: Partial<OwnCheckDraft>) => {
    edit(changed);
    save.reset();
  };
  const wanted = draft.connection === null ? null : toTrial(draft, draft.connection);
  // Of another statement or other levels, neither the result nor the error says anything.
  const isTried = JSON.stringify(trial.variables) === JSON.stringify(wanted);
  const error = save.error ?? (isTried ? trial.error : null);
  return (
    <FormDialog
      action={action}
      actions={
        <Button
          isDisabled={wanted === null || draft.sql.trim() === '' || save.isPending}
          isPending={trial.isPending}
          onPress={() => wanted && trial.mutate(wanted)}
        >
          Try
        </Button>
      }
      isBusy={trial.isPending}
      isChanged={isChanged}
      isPending={save.isPending}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      title={title}
      wide
    >
      <InlineError error={error} fields={FIELDS} />
      <NameFields draft={draft} error={error} isStored={isStored} onChange={change} />
      <StatementFields draft={draft} error={error} onChange={change} />
      <LevelFields draft={draft} error={error} onChange={change} />
      <WhereFields draft={draft} error={error} onChange={change} />
      <TryOwnCheck
        draft={draft}
        error={error}
        isTrying={trial.isPending}
        onChange={change}
        tried={isTried ? trial.data : undefined}
      />
    </FormDialog>
  );
}

interface FieldsProps {
  draft: OwnCheckDraft;
  onChange: (changed: Partial<OwnCheckDraft>) => void;
  /** Of the last request. */
  error: unknown;
}

function NameFields({ draft, onChange, error, isStored }: FieldsProps & { isStored: boolean }) {
  return (
    <>
      <TextField
        description="What is wrong when it reports, such as: Orders wait for payment."
        error={fieldError(error, 'title')}
        isRequired
        label="Title"
        maxLength={100}
        onChange={(title) => onChange({ title, ...(!draft.hasOwnId && { id: toCheckId(title) }) })}
        value={draft.title}
      />
      <TextField
        description="Findings show it with OWN_ in front. It can’t be changed later."
        error={fieldError(error, 'id')}
        isReadOnly={isStored}
        isRequired
        label="ID"
        maxLength={40}
        mono
        onChange={(id) => onChange({ id: id.toUpperCase(), hasOwnId: true })}
        value={draft.id}
      />
    </>
  );
}

function StatementFields({ draft, onChange, error }: FieldsProps) {
  return (
    <>
      <div className="own-check-pair">
        <Select
          choices={ENGINE_CHOICES}
          error={fieldError(error, 'engine')}
          label="Engine"
          onChange={(engine) => onChange({ engine: engine as OwnCheckDraft['engine'], connection: null })}
          value={draft.engine}
        />
        <TextField
          description="Default: that of the connection."
          error={fieldError(error, 'database')}
          label="Database"
          maxLength={63}
          onChange={(database) => onChange({ database })}
          value={draft.database}
        />
      </div>
      <TextField
        description="One SELECT that gives one row with the column value, or up to 100 rows with object and value. It runs read-only."
        error={fieldError(error, 'sql')}
        isRequired
        label="SQL"
        maxLength={10_000}
        mono
        onChange={(sql) => onChange({ sql })}
        placeholder="select count(*) as value from orders where state = 'waiting'"
        rows={5}
        value={draft.sql}
      />
    </>
  );
}

function LevelFields({ draft, onChange, error }: FieldsProps) {
  const wrong = (name: 'warning' | 'critical') =>
    levelIn(draft[name], draft.unit) === undefined ? 'Enter a number.' : fieldError(error, name);
  return (
    <>
      <div className="own-check-pair">
        <Select
          choices={UNITS}
          error={fieldError(error, 'unit')}
          label="Unit of the value"
          onChange={(unit) => onChange({ unit: unit as OwnCheckDraft['unit'] })}
          value={draft.unit}
        />
        <Select
          choices={OPERATORS}
          error={fieldError(error, 'operator')}
          label="It is a fault"
          onChange={(operator) => onChange({ operator: operator as OwnCheckDraft['operator'] })}
          value={draft.operator}
        />
      </div>
      <div className="own-check-pair">
        {(['warning', 'critical'] as const).map((name) => (
          <TextField
            error={wrong(name)}
            isRequired={!hasLevels(draft)}
            key={name}
            label={thresholdLabel(name, draft.unit)}
            onChange={(level) => onChange(name === 'warning' ? { warning: level } : { critical: level })}
            value={draft[name]}
          />
        ))}
      </div>
      <TextField
        description="Sent with the finding. dbvitals runs none of it."
        error={fieldError(error, 'remediation')}
        label="What to do"
        maxLength={2_000}
        onChange={(remediation) => onChange({ remediation })}
        rows={2}
        value={draft.remediation}
      />
    </>
  );
}

function WhereFields({ draft, onChange, error }: FieldsProps) {
  const [choices] = useState(() => everyChoices(draft.every));
  return (
    <>
      <TextField
        description="It runs on the connections of its engine that have all of these tags. Empty: on all of them."
        error={fieldError(error, 'tags')}
        label="Tags"
        mono
        onChange={(tags) => onChange({ tags })}
        placeholder="shop, env:production"
        value={draft.tags}
      />
      <div className="own-check-pair">
        <Select
          choices={choices}
          error={fieldError(error, 'every')}
          label="Runs"
          onChange={(every) => onChange({ every })}
          value={draft.every}
        />
        <TextField
          description="1 to 30."
          error={fieldError(error, 'timeout')}
          isRequired
          label="Time limit (s)"
          onChange={(timeout) => onChange({ timeout })}
          type="number"
          value={draft.timeout}
        />
      </div>
    </>
  );
}
