import type { EventKind } from '../../../../../src/vocabulary/event-kinds.ts';
import { DIRECTED_KINDS, plansWith } from '../../../../../src/vocabulary/event-kinds.ts';
import type { Plan } from '../../../../../src/vocabulary/plans.ts';
import type { Severity } from '../../../../../src/vocabulary/severities.ts';
import { Checkboxes, Select } from '../../../parts/field.tsx';
import { KIND_TEXTS } from '../../../parts/kind-texts.ts';
import { planName } from '../../../parts/plan-access.tsx';
import { useProfile } from '../../../shell/profile.ts';
import type { DestinationFieldsProps } from './destination-form.tsx';

/** In the order of their texts: the usual ones first. */
const OFFERED = (Object.keys(KIND_TEXTS) as EventKind[]).filter((kind) => !DIRECTED_KINDS.includes(kind));

const SEVERITIES = [
  { id: 'info', label: 'All severities' },
  { id: 'warning', label: 'Warning and critical' },
  { id: 'critical', label: 'Critical only' },
];

/** Which events are sent, and from which severity. */
export function EventFields({ draft, onChange }: DestinationFieldsProps) {
  const { plan } = useProfile().account;
  return (
    <>
      <Checkboxes
        choices={OFFERED.map((kind) => ({
          id: kind,
          label: (
            <>
              {KIND_TEXTS[kind].name}
              <span className="field-description">
                {KIND_TEXTS[kind].when} {notInPlan(kind, plan)}
              </span>
            </>
          ),
        }))}
        className="event-boxes"
        label="Events"
        onChange={(kinds) => onChange({ kinds })}
        parameter="kinds"
        value={draft.kinds}
      />
      <Select
        choices={SEVERITIES}
        label="Severity"
        onChange={(id) => onChange({ minimumSeverity: id === 'info' ? null : (id as Severity) })}
        parameter="minimum_severity"
        value={draft.minimumSeverity ?? 'info'}
      />
    </>
  );
}

/** An event that the account's plan does not include is stored as chosen, and sent once the plan does. */
function notInPlan(kind: EventKind, plan: string): string {
  const plans = plansWith(kind);
  return plans.includes(plan as Plan) || plans[0] === undefined
    ? ''
    : `Needs the ${planName(plans[0])} plan.`;
}
