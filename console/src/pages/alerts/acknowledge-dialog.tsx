import type { Alert, AlertDetail } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { send } from '../../api.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Select, TextField } from '../../parts/field.tsx';
import { TimeField } from '../../parts/time-field.tsx';
import { type Until, untilChoices, untilOf } from '../../parts/until.ts';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';

/** Asks until when an alert is acknowledged. */
export function AcknowledgeDialog({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const { draft, bind } = useDraft({ until: '4h', at: '', note: '' });
  const { note } = draft;
  const acknowledge = useAction({
    request: () => {
      const until = untilOf(draft.until as Until, draft.at);
      return send<AlertDetail>('POST', `/alerts/${alert.id}/acknowledge`, { until, note });
    },
    renews: ['alerts'],
    done: 'Alert acknowledged',
    onDone: onClose,
  });
  return (
    <FormDialog
      action="Acknowledge"
      icon="check"
      onClose={onClose}
      title="Acknowledge alert"
      work={acknowledge}
    >
      <p className="quiet">
        “<bdi>{alert.rule_name}</bdi>” on <bdi>{alert.connection_name}</bdi> sends no reminders until then.
        Your team sees that you are working on it.
      </p>
      <Select
        {...bind('until', draft.until === 'at' ? [] : 'until')}
        choices={untilChoices()}
        label="How long"
      />
      {draft.until === 'at' && <TimeField {...bind('at', 'until')} />}
      <TextField
        {...bind('note')}
        description="What you found, or what you are doing about it."
        label="Note"
        maxLength={200}
      />
    </FormDialog>
  );
}
