import './thresholds.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  CheckThresholds,
  Override,
  ThresholdChange,
  ThresholdPreview,
} from '../../../src/console-api/thresholds/threshold-schemas.ts';
import type { ThresholdUnit } from '../../../src/vocabulary/threshold-units.ts';
import { send } from '../api.ts';
import { notify } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { ChosenConnections } from '../parts/connection-choice.tsx';
import { Dialog, FormDialog } from '../parts/dialog.tsx';
import { RadioGroup, TextField } from '../parts/field.tsx';
import { useRenewConnections } from '../parts/renew-connections.ts';
import { ThresholdField } from '../parts/threshold-field.tsx';
import { thresholdFromField, thresholdText, thresholdToField } from '../parts/threshold-value.ts';
import { offerUndo } from '../parts/undo.ts';
import {
  type ChangedThresholds,
  requireUnchanged,
  undoThresholds,
  valuesOf,
} from '../parts/undo-thresholds.ts';
import { useAction } from '../parts/use-action.ts';
import { PreviewResult } from './preview-result.tsx';
import { SetBy } from './set-by.tsx';
import { meaningOf, scopeWords } from './threshold-text.ts';
import { ownThresholdsQuery, thresholdsQuery } from './thresholds-query.ts';

type Scope = 'this' | 'all' | 'tag' | 'connections';

const SCOPES = [
  { id: 'all', label: 'All connections' },
  { id: 'tag', label: 'Connections with a tag', description: 'Includes connections that get the tag later.' },
  { id: 'connections', label: 'Chosen connections', description: 'Up to 1,000.' },
];

const THIS = { id: 'this', label: 'This connection' };

interface CheckDialogProps {
  check: CheckThresholds;
  /** The connection on whose page the dialog is; by default, it is on none. */
  connectionId?: number;
  /** Those of the check. */
  overrides: readonly Override[];
  mayWrite: boolean;
  onClose: () => void;
}

/** The thresholds of a check: what sets them, and a form to set them, with a preview. */
export function CheckDialog(props: CheckDialogProps) {
  if (props.mayWrite) return <CheckForm {...props} />;
  const { check, overrides, onClose } = props;
  return (
    <Dialog onClose={onClose} title={check.title} wide>
      <SetBy check={check} onEdit={null} overrides={overrides} />
    </Dialog>
  );
}

/** The dialog for a check by its ID, on the page of a connection, for a member who may write. */
export function ConnectionCheckDialog({
  checkId,
  ...props
}: Required<Pick<CheckDialogProps, 'connectionId' | 'onClose'>> & { checkId: string }) {
  const { data } = useQuery(thresholdsQuery);
  const check = data?.checks.find(({ check_id }) => check_id === checkId);
  if (!check) return null;
  const overrides = data?.overrides.filter(({ check_id }) => check_id === checkId) ?? [];
  return <CheckDialog {...props} check={check} mayWrite overrides={overrides} />;
}

function CheckForm({ check, overrides, connectionId, onClose }: CheckDialogProps) {
  const { check_id, title, thresholds } = check;
  const refresh = useRenewConnections();
  const listed = useQuery(ownThresholdsQuery(check_id)).data;
  const own = listed?.data ?? [];
  const [scope, setScope] = useState<Scope>(connectionId === undefined ? 'all' : 'this');
  const [tag, setTag] = useState('');
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const isOwn = scope === 'this' || scope === 'connections';
  const ids = scope === 'this' && connectionId !== undefined ? [connectionId] : chosen;
  const [texts, setTexts] = useState<Record<string, string>>({});

  const setFor = (wanted: string) => valuesOf(overrides.filter((one) => one.tag === wanted));
  const setBy = (id: number) => valuesOf(own.find((one) => one.id === id)?.thresholds ?? []);
  const named = scope === 'tag' ? tag.trim().toLowerCase() : '';
  const before = isOwn ? new Map(ids.map((id) => [id, setBy(id)])) : new Map([[named, setFor(named)]]);
  // Several connections may differ: their own value is shown only for one.
  const [stored = {}] = before.size === 1 ? before.values() : [];
  const textOf = (name: string, unit: ThresholdUnit) => {
    const value = stored[name] ?? null;
    return texts[name] ?? (value === null ? '' : thresholdToField(value, unit));
  };
  const inherited = (name: string, standard: number) =>
    (scope === 'all' ? undefined : setFor('')[name]) ?? standard;
  const typed = thresholds.flatMap(({ name, unit }) => {
    const text = texts[name];
    return text === undefined ? [] : [[name, thresholdFromField(text, unit)] as const];
  });
  const isWrong = typed.some(([, number]) => number === undefined);
  const isScoped = scope === 'all' || (scope === 'tag' ? tag.trim() !== '' : ids.length > 0);
  // What a connection sets is read before it is replaced: undo restores it.
  const isRead = !isOwn || listed !== undefined;
  const isReady = typed.length > 0 && !isWrong && isScoped && isRead;

  const made: ChangedThresholds = {
    check: check_id,
    set: Object.fromEntries(typed.map(([name, number]) => [name, number ?? null])),
    before,
  };

  const body: ThresholdChange = {
    ...(scope === 'tag' && { tag }),
    ...(isOwn && { connections: [...ids] }),
    thresholds: { [check_id]: made.set },
  };

  const preview = useAction({
    request: () => send<ThresholdPreview>('POST', '/thresholds/preview', body),
  });
  const save = useMutation({
    async mutationFn() {
      try {
        await requireUnchanged(made);
      } catch (error) {
        await refresh(); // shows the new values, which the next attempt replaces
        throw error;
      }
      return send<{ changed: number }>('POST', '/thresholds', body);
    },
    async onSuccess({ changed }) {
      await refresh();
      const done = `Thresholds saved for ${scopeWords(body)}. The next check uses them.`;
      if (changed === 0) notify('Nothing changed.');
      // Of more connections than are listed, nobody knows what was set before.
      else if (isOwn && listed?.total !== own.length) notify(done);
      else offerUndo(done, () => undoThresholds(made).finally(refresh));
      onClose();
    },
  });
  const change = (work: () => void) => {
    work();
    preview.reset(); // it was of other values
    save.reset();
  };
  const chooseScope = (chosen: Scope, named = '') =>
    change(() => {
      setScope(chosen);
      setTag(named);
      setTexts({});
    });
  const error = save.error ?? preview.error;
  return (
    <FormDialog
      action="Save"
      actions={
        <Button isDisabled={!isReady} isPending={preview.isPending} onPress={() => preview.mutate()}>
          Preview
        </Button>
      }
      isBusy={preview.isPending}
      isChanged={typed.length > 0}
      isDisabled={!isReady}
      onClose={onClose}
      title={title}
      wide
      work={{ ...save, error }}
    >
      <SetBy
        check={check}
        onEdit={(of) => chooseScope(of === '' ? 'all' : 'tag', of)}
        overrides={overrides}
      />
      <RadioGroup
        choices={connectionId === undefined ? SCOPES : [THIS, ...SCOPES]}
        label="Set for"
        onChange={(chosen) => chooseScope(chosen as Scope)}
        value={scope}
      />
      {scope === 'tag' && (
        <TextField
          description="A tag, such as env:test or team:shop."
          parameter="tag"
          isRequired
          label="Tag"
          mono
          onChange={(text) => change(() => setTag(text))}
          placeholder="env:test"
          value={tag}
        />
      )}
      {scope === 'connections' && (
        <ChosenConnections
          draft={{ ids }}
          onChange={({ ids: chosen }) => chosen && change(() => setChosen(chosen))}
        />
      )}
      {thresholds.map((threshold) => {
        const { name, unit, default: standard } = threshold;
        return (
          <ThresholdField
            description={`${meaningOf(threshold)}Default: ${thresholdText(standard, unit)}. Leave it empty to reset it.`}
            inherited={inherited(name, standard)}
            key={name}
            name={name}
            onChange={(text) => change(() => setTexts((old) => ({ ...old, [name]: text })))}
            text={textOf(name, unit)}
            unit={unit}
          />
        );
      })}
      {preview.data && <PreviewResult preview={preview.data} />}
    </FormDialog>
  );
}
