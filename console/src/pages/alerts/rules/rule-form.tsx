import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type {
  AlertRule,
  AlertRules,
  NewRule,
  RulePreview,
} from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { metricWords } from '../../../../../src/platform/text/metric-words.ts';
import { ALERT_METRICS } from '../../../../../src/vocabulary/alert-metrics.ts';
import { SEVERITIES } from '../../../../../src/vocabulary/severities.ts';
import { fieldError, send } from '../../../api.ts';
import { notify } from '../../../parts/announcer.tsx';
import { ConnectionChoice, SCOPE_FIELDS } from '../../../parts/connection-choice.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { Checkbox, RadioGroup, Select, TextField } from '../../../parts/field.tsx';
import { numberError } from '../../../parts/number-in.ts';
import { SearchSelect, type Suggestion, type SuggestionGroup } from '../../../parts/search-choice.tsx';
import { InlineError } from '../../../parts/states.tsx';
import { statusText } from '../../../parts/status-mark.tsx';
import { useDraft } from '../../../parts/use-draft.ts';
import { OPERATORS } from '../alert-text.ts';
import { useRefreshAlerts } from '../alerts-query.ts';
import {
  draftOf,
  entered,
  hasNumbers,
  METRIC_FORMS,
  NEW_RULE,
  type RuleDraft,
  ruleOf,
  withMetric,
} from './rule-draft.ts';
import { firingsText, ruleSentence } from './rule-sentence.ts';

const FIELDS = [
  'name',
  'metric',
  'check_id',
  'measure',
  'operator',
  'threshold',
  'clear_threshold',
  'for_seconds',
  'for_runs',
  'severity',
  'destination_ids',
  'reminder_seconds',
  ...SCOPE_FIELDS,
];

interface RuleFormProps {
  /** Null = a new one. */
  rule: AlertRule | null;
  known: AlertRules;
  onClose: () => void;
}

/** Adds or changes a rule. A sentence below the fields says what the rule does. */
export function RuleForm({ rule, known, onClose }: RuleFormProps) {
  const refresh = useRefreshAlerts();
  const { draft, isChanged, change } = useDraft<RuleDraft>(() => (rule ? draftOf(rule) : NEW_RULE));
  const { error, isPending, mutate } = useMutation({
    mutationFn: (wanted: NewRule) =>
      rule
        ? send<AlertRule>('PATCH', `/alert-rules/${rule.id}`, wanted)
        : send<AlertRule>('POST', '/alert-rules', wanted),
    async onSuccess() {
      await refresh();
      notify(rule ? 'Rule saved' : 'Rule added');
      onClose();
    },
  });
  const wanted = ruleOf(draft);
  const sentence = ruleSentence(wanted);
  const steady = useSteady(sentence === null ? null : wanted);
  return (
    <FormDialog
      action={rule ? 'Save' : 'Add rule'}
      isChanged={isChanged}
      isDisabled={!hasNumbers(draft)}
      isPending={isPending}
      onClose={onClose}
      onSubmit={() => mutate(wanted)}
      title={rule ? 'Change rule' : 'Add a rule'}
      wide
    >
      <TextField
        error={fieldError(error, 'name')}
        isRequired
        label="Name"
        maxLength={200}
        onChange={(name) => change({ name })}
        value={draft.name}
      />
      <Condition draft={draft} error={error} known={known} onChange={change} />
      <div className="rule-row">
        <Select
          choices={SEVERITIES.map((id) => ({ id, label: statusText(id) }))}
          error={fieldError(error, 'severity')}
          label="Severity"
          onChange={(severity) => change({ severity: severity as RuleDraft['severity'] })}
          value={draft.severity}
        />
        <TextField
          description="Hours between reminders while it is open; empty for none."
          error={numberError(draft.reminder) ?? fieldError(error, 'reminder_seconds')}
          label="Remind every"
          onChange={(reminder) => change({ reminder })}
          value={draft.reminder}
        />
      </div>
      <ConnectionChoice draft={draft} error={error} onChange={change} />
      <Destinations draft={draft} error={error} known={known} onChange={change} />
      <div className="rule-sentence" role="status">
        <p>{sentence ?? 'Enter the condition.'}</p>
        {steady && <Firings rule={steady} />}
      </div>
      <InlineError error={error} fields={FIELDS} />
    </FormDialog>
  );
}

/** The wait after the last change before the service is asked. */
const PAUSE_MS = 400;

/** A rule once it has not changed for a moment. */
function useSteady(rule: NewRule | null): NewRule | null {
  const [steady, setSteady] = useState(rule);
  // Its name changes nothing.
  const key = JSON.stringify(rule && { ...rule, name: '' });
  useEffect(() => {
    const timer = setTimeout(() => setSteady(JSON.parse(key)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return steady;
}

interface FieldsProps {
  draft: RuleDraft;
  known: AlertRules;
  error: unknown;
  onChange: (changed: Partial<RuleDraft>) => void;
}

function Condition({ draft, known, error, onChange }: FieldsProps) {
  const { metric } = draft;
  const form = METRIC_FORMS[metric];
  const { unit } = entered(draft);
  const inUnit = (label: string) => (unit ? `${label} (${unit})` : label);
  return (
    <>
      <Select
        choices={ALERT_METRICS.map((id) => ({ id, label: METRIC_FORMS[id].label }))}
        error={fieldError(error, 'metric')}
        label="Condition"
        onChange={(id) => onChange(withMetric(draft, id as RuleDraft['metric']))}
        value={metric}
      />
      <Subject draft={draft} error={error} known={known} onChange={onChange} />
      <div className="rule-row">
        <Select
          choices={form.operators.map((id) => ({ id, label: OPERATORS[id] }))}
          error={fieldError(error, 'operator')}
          label="Fires when it is"
          onChange={(operator) => onChange({ operator: operator as RuleDraft['operator'] })}
          value={draft.operator}
        />
        <TextField
          error={numberError(draft.threshold) ?? fieldError(error, 'threshold')}
          isRequired
          label={inUnit('Threshold')}
          onChange={(threshold) => onChange({ threshold })}
          value={draft.threshold}
        />
        {form.clears && (
          <TextField
            error={numberError(draft.clear) ?? fieldError(error, 'clear_threshold')}
            label={inUnit('Clears at')}
            onChange={(clear) => onChange({ clear })}
            placeholder={draft.threshold}
            value={draft.clear}
          />
        )}
      </div>
      {form.lasts && (
        <div className="rule-row">
          <TextField
            error={numberError(draft.minutes) ?? fieldError(error, 'for_seconds')}
            isRequired
            label="For (minutes)"
            onChange={(minutes) => onChange({ minutes })}
            value={draft.minutes}
          />
          <TextField
            error={numberError(draft.runs) ?? fieldError(error, 'for_runs')}
            isRequired
            label="Consecutive checks"
            onChange={(runs) => onChange({ runs })}
            value={draft.runs}
          />
        </div>
      )}
    </>
  );
}

const ENGINES = { PG: 'PostgreSQL', MY: 'MySQL and MariaDB', OWN: 'Own checks' } as const;

/** Each once, vital signs first, then by engine. */
function grouped<Subject>(
  all: readonly Subject[],
  readCheck: (subject: Subject) => string,
  toChoice: (subject: Subject) => Suggestion,
): SuggestionGroup[] {
  const nameGroup = (check: string) =>
    check === '' ? 'Vital signs' : (ENGINES[check.split('_')[0] as keyof typeof ENGINES] ?? 'All engines');
  const groups = Map.groupBy(all, (subject) => nameGroup(readCheck(subject)));
  return [...groups].map(([name, subjects]) => ({ name, choices: subjects.map(toChoice) }));
}

/** What is measured or counted. */
function Subject({ draft, known, error, onChange }: FieldsProps) {
  const { metric } = draft;
  if (metric === 'findings_critical' || metric === 'findings_warning') {
    const checks = grouped(
      known.checks,
      ({ id }) => id,
      ({ id, title }) => ({ id, label: title, description: id }),
    );
    return (
      <SearchSelect
        error={fieldError(error, 'check_id')}
        groups={[{ name: 'All', choices: [{ id: '', label: 'Any check' }] }, ...checks]}
        label="Check"
        onChange={(check_id) => onChange({ check_id })}
        value={draft.check_id}
      />
    );
  }
  if (metric !== 'measure' && metric !== 'days_left') return null;
  const measures = grouped(
    known.measures,
    ({ check_id }) => check_id,
    ({ check_id, measure, title }) => ({
      id: `${check_id} ${measure}`,
      label: check_id === '' ? title : metricWords(measure),
      ...(check_id !== '' && { description: `${title} · ${check_id}` }),
    }),
  );
  const any = { name: 'All', choices: [{ id: '', label: 'Any resource' }] };
  return (
    <SearchSelect
      error={fieldError(error, 'measure') ?? fieldError(error, 'check_id')}
      groups={metric === 'days_left' ? [any, ...measures] : measures}
      label="Value"
      onChange={(measure) => onChange({ measure })}
      value={draft.measure}
    />
  );
}

/** How often a rule would have fired, or why that can’t be read. */
function Firings({ rule }: { rule: NewRule }) {
  const { data, error } = useQuery({
    queryKey: ['alerts', 'preview', rule],
    queryFn: () => send<RulePreview>('POST', '/alert-rules/preview', rule),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const text = data ? firingsText(data) : (error?.message ?? 'Reading the last 7 days…');
  return <p className="quiet">{text}</p>;
}

function Destinations({ draft, known, error, onChange }: FieldsProps) {
  const { destinations, destination_ids: ids } = draft;
  if (known.destinations.length === 0) {
    return <p className="quiet small">Alerts are sent to all destinations. You have none yet.</p>;
  }
  return (
    <>
      <RadioGroup
        choices={[
          { id: 'all', label: 'All destinations', description: 'Those that take alerts of this severity.' },
          { id: 'chosen', label: 'Chosen destinations' },
        ]}
        error={fieldError(error, 'destination_ids')}
        label="Sent to"
        onChange={(chosen) => onChange({ destinations: chosen as RuleDraft['destinations'] })}
        value={destinations}
      />
      {destinations === 'chosen' && (
        <fieldset className="rule-destinations">
          <legend className="hidden-text">Chosen destinations</legend>
          {known.destinations.map(({ id, name }) => (
            <Checkbox
              isSelected={ids.includes(id)}
              key={id}
              onChange={(isChosen) =>
                onChange({ destination_ids: isChosen ? [...ids, id] : ids.filter((one) => one !== id) })
              }
            >
              <bdi>{name}</bdi>
            </Checkbox>
          ))}
        </fieldset>
      )}
    </>
  );
}
