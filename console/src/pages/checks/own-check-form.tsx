import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  ShownOwnCheck,
  TriedOwnCheck,
  TryOwnCheckBody,
} from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { ENGINE_NAMES, SQL_ENGINES } from '../../../../src/vocabulary/engines.ts';
import { send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { Select, TextField } from '../../parts/field.tsx';
import { thresholdLabel } from '../../parts/threshold-value.ts';
import { useAction } from '../../parts/use-action.ts';
import { bindTo, type FieldsProps, useDraft } from '../../parts/use-draft.ts';
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
import { everyChoices } from './reading-times.ts';
import { TryOwnCheck } from './try-own-check.tsx';

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

interface FormProps {
  /** Null = a new one. The id of an existing one stays. */
  own: ShownOwnCheck | null;
  onClose: () => void;
}

/** Adds or changes an own check, and tries it. */
export function OwnCheckForm({ own, onClose }: FormProps) {
  // As it was opened: somebody else may change it meanwhile.
  const [opened] = useState(own);
  const { draft, isChanged, change: edit } = useDraft(() => (opened ? toDraft(opened) : newDraft()));
  const save = useAction({
    request: () =>
      opened
        ? send<ShownOwnCheck>('PATCH', `/own-checks/${opened.id}`, toChangedCheck(draft, opened))
        : send<ShownOwnCheck>('POST', '/own-checks', toNewCheck(draft)),
    renews: ['own-checks'],
    onDone({ connections }) {
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
      action={opened ? 'Save' : 'Add check'}
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
      onClose={onClose}
      title={opened ? `Change ${opened.title}` : 'Add an own check'}
      wide
      work={{ ...save, error }}
    >
      <NameFields draft={draft} isStored={opened !== null} onChange={change} />
      <StatementFields draft={draft} onChange={change} />
      <LevelFields draft={draft} onChange={change} />
      <WhereFields draft={draft} onChange={change} />
      <TryOwnCheck
        draft={draft}
        isTrying={trial.isPending}
        onChange={change}
        tried={isTried ? trial.data : undefined}
      />
    </FormDialog>
  );
}

function NameFields({ draft, onChange, isStored }: FieldsProps<OwnCheckDraft> & { isStored: boolean }) {
  return (
    <>
      <TextField
        description="What is wrong when it reports, such as: Orders wait for payment."
        parameter="title"
        isRequired
        label="Title"
        maxLength={100}
        onChange={(title) => onChange({ title, ...(!draft.hasOwnId && { id: toCheckId(title) }) })}
        value={draft.title}
      />
      <TextField
        description="Findings show it with OWN_ in front. It can’t be changed later."
        parameter="id"
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

function StatementFields({ draft, onChange }: FieldsProps<OwnCheckDraft>) {
  const bind = bindTo(draft, onChange);
  return (
    <>
      <div className="own-check-pair">
        <Select
          choices={ENGINE_CHOICES}
          parameter="engine"
          label="Engine"
          onChange={(engine) => onChange({ engine: engine as OwnCheckDraft['engine'], connection: null })}
          value={draft.engine}
        />
        <TextField
          {...bind('database')}
          description="Default: that of the connection."
          label="Database"
          maxLength={63}
        />
      </div>
      <TextField
        {...bind('sql')}
        description="One SELECT that gives one row with the column value, or up to 100 rows with object and value. It runs read-only."
        isRequired
        label="SQL"
        maxLength={10_000}
        mono
        placeholder="select count(*) as value from orders where state = 'waiting'"
        rows={5}
      />
    </>
  );
}

function LevelFields({ draft, onChange }: FieldsProps<OwnCheckDraft>) {
  const bind = bindTo(draft, onChange);
  return (
    <>
      <div className="own-check-pair">
        <Select {...bind('unit')} choices={UNITS} label="Unit of the value" />
        <Select {...bind('operator')} choices={OPERATORS} label="It is a fault" />
      </div>
      <div className="own-check-pair">
        {(['warning', 'critical'] as const).map((name) => (
          <TextField
            {...bind(name)}
            error={levelIn(draft[name], draft.unit) === undefined ? 'Enter a number.' : null}
            isRequired={!hasLevels(draft)}
            key={name}
            label={thresholdLabel(name, draft.unit)}
          />
        ))}
      </div>
      <TextField
        {...bind('remediation')}
        description="Sent with the finding. dbvitals runs none of it."
        label="What to do"
        maxLength={2_000}
        rows={2}
      />
    </>
  );
}

function WhereFields({ draft, onChange }: FieldsProps<OwnCheckDraft>) {
  const bind = bindTo(draft, onChange);
  const [choices] = useState(() => everyChoices(draft.every));
  return (
    <>
      <TextField
        {...bind('tags')}
        description="It runs on the connections of its engine that have all of these tags. Empty: on all of them."
        label="Tags"
        mono
        placeholder="shop, env:production"
      />
      <div className="own-check-pair">
        <Select {...bind('every')} choices={choices} label="Runs" />
        <TextField
          {...bind('timeout')}
          description="1 to 30."
          isRequired
          label="Time limit (s)"
          type="number"
        />
      </div>
    </>
  );
}
