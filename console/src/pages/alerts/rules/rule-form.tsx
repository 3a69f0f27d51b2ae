import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type {
  AlertRule,
  AlertRules,
  NewRule,
  RulePreview,
} from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { metricWords } from '../../../../../src/platform/text/metric-words.ts';
import { ALERT_METRICS } from '../../../../../src/vocabulary/alert-metrics.ts';
import { SEVERITIES } from '../../../../../src/vocabulary/severities.ts';
import { send } from '../../../api.ts';
import { ConnectionChoice } from '../../../parts/connection-choice.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { Checkboxes, type Choice, RadioGroup, Select, TextField } from '../../../parts/field.tsx';
import { numberError } from '../../../parts/number-in.ts';
import { SearchSelect, type SuggestionGroup } from '../../../parts/search-choice.tsx';
import { statusText } from '../../../parts/status-mark.tsx';
import { useAction } from '../../../parts/use-action.ts';
import { bindTo, useDraft } from '../../../parts/use-draft.ts';
import { usePaused } from '../../../parts/use-paused.ts';
import { OPERATORS } from '../alert-text.ts';
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

interface RuleFormProps {
  /** Null = a new one. */
  rule: AlertRule | null;
  known: AlertRules;
  onClose: () => void;
}

/** Adds or changes a rule. A sentence below the fields says what the rule does. */
export function RuleForm({ rule, known, onClose }: RuleFormProps) {
  const { draft, isChanged, change, bind } = useDraft<RuleDraft>(() => (rule ? draftOf(rule) : NEW_RULE));
  const wanted = ruleOf(draft);
  const save = useAction({
    request: () =>
      rule
        ? send<AlertRule>('PATCH', `/alert-rules/${rule.id}`, wanted)
        : send<AlertRule>('POST', '/alert-rules', wanted),
    renews: ['alerts'],
    done: rule ? 'Rule saved' : 'Rule added',
    onDone: onClose,
  });
  const sentence = ruleSentence(wanted);
  // Its name changes nothing.
  const judged = sentence === null ? null : { ...wanted, name: '' };
  const steady = usePaused(judged, PAUSE_MS, JSON.stringify(judged));
  return (
    <FormDialog
      action={rule ? 'Save' : 'Add rule'}
      isChanged={isChanged}
      isDisabled={!hasNumbers(draft)}
      onClose={onClose}
      title={rule ? 'Change rule' : 'Add a rule'}
      wide
      work={save}
    >
      <TextField {...bind('name')} isRequired label="Name" maxLength={200} />
      <Condition draft={draft} known={known} onChange={change} />
      <div className="rule-row">
        <Select
          {...bind('severity')}
          choices={SEVERITIES.map((id) => ({ id, label: statusText(id) }))}
          label="Severity"
        />
        <TextField
          {...bind('reminder', 'reminder_seconds')}
          description="Hours between reminders while it is open; empty for none."
          error={numberError(draft.reminder)}
          label="Remind every"
        />
      </div>
      <ConnectionChoice draft={draft} onChange={change} />
      <Destinations draft={draft} known={known} onChange={change} />
      <div className="rule-sentence" role="status">
        <p>{sentence ?? 'Enter the condition.'}</p>
        {steady && <Firings rule={steady} />}
      </div>
    </FormDialog>
  );
}

/** The wait after the last change before the service is asked. */
const PAUSE_MS = 400;

interface FieldsProps {
  draft: RuleDraft;
  known: AlertRules;
  onChange: (changed: Partial<RuleDraft>) => void;
}

function Condition({ draft, known, onChange }: FieldsProps) {
  const bind = bindTo(draft, onChange);
  const { metric } = draft;
  const form = METRIC_FORMS[metric];
  const { unit } = entered(draft);
  const inUnit = (label: string) => (unit ? `${label} (${unit})` : label);
  return (
    <>
      <Select
        choices={ALERT_METRICS.map((id) => ({ id, label: METRIC_FORMS[id].label }))}
        parameter="metric"
        label="Condition"
        onChange={(id) => onChange(withMetric(draft, id as RuleDraft['metric']))}
        value={metric}
      />
      <Subject draft={draft} known={known} onChange={onChange} />
      <div className="rule-row">
        <Select
          {...bind('operator')}
          choices={form.operators.map((id) => ({ id, label: OPERATORS[id] }))}
          label="Fires when it is"
        />
        <TextField
          {...bind('threshold')}
          error={numberError(draft.threshold)}
          isRequired
          label={inUnit('Threshold')}
        />
        {form.clears && (
          <TextField
            {...bind('clear', 'clear_threshold')}
            error={numberError(draft.clear)}
            label={inUnit('Clears at')}
            placeholder={draft.threshold}
          />
        )}
      </div>
      {form.lasts && (
        <div className="rule-row">
          <TextField
            {...bind('minutes', 'for_seconds')}
            error={numberError(draft.minutes)}
            isRequired
            label="For (minutes)"
          />
          <TextField
            {...bind('runs', 'for_runs')}
            error={numberError(draft.runs)}
            isRequired
            label="Consecutive checks"
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
  toChoice: (subject: Subject) => Choice,
): SuggestionGroup[] {
  const nameGroup = (check: string) =>
    check === '' ? 'Vital signs' : (ENGINES[check.split('_')[0] as keyof typeof ENGINES] ?? 'All engines');
  const groups = Map.groupBy(all, (subject) => nameGroup(readCheck(subject)));
  return [...groups].map(([name, subjects]) => ({ name, choices: subjects.map(toChoice) }));
}

/** What is measured or counted. */
function Subject({ draft, known, onChange }: FieldsProps) {
  const bind = bindTo(draft, onChange);
  const { metric } = draft;
  if (metric === 'findings_critical' || metric === 'findings_warning') {
    const checks = grouped(
      known.checks,
      ({ id }) => id,
      ({ id, title }) => ({ id, label: title, description: id }),
    );
    return (
      <SearchSelect
        {...bind('check_id')}
        groups={[{ name: 'All', choices: [{ id: '', label: 'Any check' }] }, ...checks]}
        label="Check"
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
      {...bind('measure', ['measure', 'check_id'])}
      groups={metric === 'days_left' ? [any, ...measures] : measures}
      label="Value"
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

function Destinations({ draft, known, onChange }: FieldsProps) {
  const bind = bindTo(draft, onChange);
  const { destinations, destination_ids: ids } = draft;
  if (known.destinations.length === 0) {
    return <p className="quiet small">Alerts are sent to all destinations. You have none yet.</p>;
  }
  return (
    <>
      <RadioGroup
        {...bind('destinations', 'destination_ids')}
        choices={[
          { id: 'all', label: 'All destinations', description: 'Those that take alerts of this severity.' },
          { id: 'chosen', label: 'Chosen destinations' },
        ]}
        label="Sent to"
      />
      {destinations === 'chosen' && (
        <Checkboxes
          choices={known.destinations.map(({ id, name }) => ({ id, label: <bdi>{name}</bdi> }))}
          hideLabel
          label="Chosen destinations"
          onChange={(destination_ids) => onChange({ destination_ids })}
          value={ids}
        />
      )}
    </>
  );
}
