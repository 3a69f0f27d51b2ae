import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AlertRule, AlertRules } from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { send } from '../../../api.ts';
import { Button, IconButton } from '../../../parts/button.tsx';
import { ConfirmRequest } from '../../../parts/confirm-request.tsx';
import { Checkbox } from '../../../parts/field.tsx';
import { useRestoredFocus } from '../../../parts/restore-focus.ts';
import { InlineError, Loaded, Message } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status-mark.tsx';
import { useAction } from '../../../parts/use-action.ts';
import { useCan } from '../../../shell/profile.ts';
import { rulesQuery } from '../alerts-query.ts';
import { RuleForm } from './rule-form.tsx';
import { ruleSentence } from './rule-sentence.ts';

/** The rules of the account. */
export function AlertRuleList() {
  const query = useQuery(rulesQuery);
  return <Loaded query={query}>{(known) => <Rules known={known} />}</Loaded>;
}

/** The rule whose form or question is open; `new` = the form of a new one. */
type Step = { kind: 'form'; rule: AlertRule | null } | { kind: 'remove'; rule: AlertRule } | null;

function Rules({ known }: { known: AlertRules }) {
  const can = useCan();
  const mayWrite = can('connections:write');
  const [step, setStep] = useState<Step>(null);
  useRestoredFocus(step !== null);
  const add = (
    <Button icon="plus" kind="primary" onPress={() => setStep({ kind: 'form', rule: null })}>
      Add rule
    </Button>
  );
  return (
    <div className="alert-rules">
      {known.items.length === 0 ? (
        <Message actions={mayWrite && add} icon="bell" title="No rules">
          A rule raises an alert when the score, a measured value or the time since the last check crosses a
          limit.
        </Message>
      ) : (
        <>
          {mayWrite && <div className="page-actions">{add}</div>}
          <ul className="rule-list">
            {known.items.map((rule) => (
              <Rule key={rule.id} mayWrite={mayWrite} onStep={setStep} rule={rule} />
            ))}
          </ul>
        </>
      )}
      {step?.kind === 'form' && <RuleForm known={known} onClose={() => setStep(null)} rule={step.rule} />}
      {step?.kind === 'remove' && (
        <ConfirmRequest
          action="Remove rule"
          done="Rule removed"
          onClose={() => setStep(null)}
          renews={['alerts']}
          request={() => send('DELETE', `/alert-rules/${step.rule.id}`)}
          title="Remove this rule?"
        >
          <p>
            “<bdi>{step.rule.name}</bdi>” is removed and its open alerts are resolved.
          </p>
        </ConfirmRequest>
      )}
    </div>
  );
}

interface RuleProps {
  rule: AlertRule;
  mayWrite: boolean;
  onStep: (step: Step) => void;
}

function Rule({ rule, mayWrite, onStep }: RuleProps) {
  const { name, preset, severity, is_enabled } = rule;
  const toggle = useAction({
    request: () => send<AlertRule>('PATCH', `/alert-rules/${rule.id}`, { is_enabled: !is_enabled }),
    renews: ['alerts'],
    done: is_enabled ? 'Rule disabled' : 'Rule enabled',
  });
  return (
    <li className={is_enabled ? 'rule-item' : 'rule-item disabled-rule'}>
      <div className="rule-text">
        <h2>
          <bdi>{name}</bdi>
          {preset !== null && <span className="rule-preset">Preset</span>}
        </h2>
        <p className="quiet">{ruleSentence(rule)}</p>
        <p className="rule-marks">
          <StatusMark quiet status={severity} />
          {!mayWrite && !is_enabled && <span className="small quiet">Disabled</span>}
        </p>
        <InlineError error={toggle.error} />
      </div>
      {mayWrite && (
        <div className="rule-actions">
          <Checkbox isDisabled={toggle.isPending} isSelected={is_enabled} onChange={() => toggle.mutate()}>
            Enabled<span className="hidden-text">: {name}</span>
          </Checkbox>
          <IconButton icon="pen" label={`Change ${name}`} onPress={() => onStep({ kind: 'form', rule })} />
          <IconButton icon="bin" label={`Remove ${name}`} onPress={() => onStep({ kind: 'remove', rule })} />
        </div>
      )}
    </li>
  );
}
