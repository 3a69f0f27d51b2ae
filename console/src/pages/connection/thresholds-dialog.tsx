import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type {
  ConnectionChange,
  ConnectionSettings,
} from '../../../../src/console-api/connections/connection-schemas.ts';
import type { ExplainedFinding } from '../../../../src/console-api/connections/findings.ts';
import { ApiError, send } from '../../api.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { InlineError } from '../../parts/states.tsx';
import { ThresholdField } from '../../parts/threshold-field.tsx';
import { thresholdFromField, thresholdText, thresholdToField } from '../../parts/threshold-value.ts';
import { offerUndo } from '../../parts/undo.ts';
import { type ChangedThresholds, undoThresholds, valuesOf } from '../../parts/undo-thresholds.ts';
import { useRefresh } from './connection-query.ts';

type Threshold = ExplainedFinding['thresholds'][number];

function describe({ value, inherited, source, tag, unit, ...threshold }: Threshold): string {
  const text = (of: number) => thresholdText(of, unit);
  const current = value === threshold.default ? '' : `Current: ${text(value)}. `;
  const by = { tag: `Of ${tag}: ${text(inherited)}. `, account: `Of all connections: ${text(inherited)}. ` };
  const below = source === 'tag' || source === 'account' ? by[source] : '';
  return `${source === 'connection' ? current : below}Default: ${text(threshold.default)}`;
}

interface ThresholdsDialogProps {
  settings: Pick<ConnectionSettings, 'id' | 'version'>;
  finding: ExplainedFinding;
  onClose: () => void;
}

/** Edits the thresholds of a check on this connection. An empty field takes back the connection's own. */
export function ThresholdsDialog({ settings, finding, onClose }: ThresholdsDialogProps) {
  const { check_id, title, thresholds } = finding;
  const renew = useRefresh();
  const [texts, setTexts] = useState<Record<string, string>>({});
  const textOf = ({ name, value, source, unit }: Threshold) =>
    texts[name] ?? (source === 'connection' ? thresholdToField(value, unit) : '');
  const typed = thresholds.flatMap(({ name, unit }) => {
    const text = texts[name];
    return text === undefined ? [] : [[name, thresholdFromField(text, unit)] as const];
  });
  const own = thresholds.filter(({ source }) => source === 'connection');
  const made: ChangedThresholds = {
    check: check_id,
    set: Object.fromEntries(typed.map(([name, number]) => [name, number ?? null])),
    before: new Map([[settings.id, valuesOf(own)]]),
  };
  const save = useMutation({
    mutationFn: () =>
      send<ConnectionSettings>('PATCH', `/connections/${settings.id}`, {
        version: settings.version,
        thresholds: { [check_id]: made.set },
      } satisfies ConnectionChange),
    async onSuccess() {
      await renew();
      offerUndo('Thresholds saved. The next check uses them.', () => undoThresholds(made).finally(renew));
      onClose();
    },
    // Shows the values that someone else set meanwhile. Saving again builds on them.
    onError: (error) => error instanceof ApiError && error.code === 'conflict' && renew(),
  });
  return (
    <FormDialog
      action="Save"
      isChanged={typed.length > 0}
      isDisabled={typed.length === 0 || typed.some(([, number]) => number === undefined)}
      isPending={save.isPending}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      title="Edit thresholds"
    >
      <p className="quiet">
        Thresholds of “<bdi>{title}</bdi>” on this connection. Leave a field empty to use that of its tags, of
        all connections, or the default. <Link to="/thresholds">All thresholds</Link>
      </p>
      {thresholds.map((threshold) => (
        <ThresholdField
          description={describe(threshold)}
          inherited={threshold.inherited}
          key={threshold.name}
          name={threshold.name}
          onChange={(text) => setTexts((old) => ({ ...old, [threshold.name]: text }))}
          text={textOf(threshold)}
          unit={threshold.unit}
        />
      ))}
      <InlineError error={save.error} />
    </FormDialog>
  );
}
