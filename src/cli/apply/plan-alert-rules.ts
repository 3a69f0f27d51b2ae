import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { within } from '../../database/read.ts';
import { addRule } from '../../notifications/alerts/add-rule.ts';
import type { RuleSettings } from '../../notifications/alerts/alert-rule.ts';
import { changeRule } from '../../notifications/alerts/change-rule.ts';
import { listRules } from '../../notifications/alerts/list-rules.ts';
import { PRESET_RULES } from '../../notifications/alerts/preset-rules.ts';
import { removeRule } from '../../notifications/alerts/remove-rule.ts';
import { conditionText } from '../../notifications/alerts/rule-condition.ts';
import { type DestinationRow, listDestinations } from '../../notifications/destinations/destination-row.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import { changesOf, type Step, type Steps } from './apply-step.ts';
import type { ReadFile } from './configuration-file.ts';
import type { DesiredRule } from './parse-alert-rules.ts';

const NO_PLACE = { check_id: null, measure: null, connection_ids: null, connection_names: null };

/** The rules that a new account will have. */
const NEW_RULES: readonly RuleSettings[] = PRESET_RULES.map(({ preset: _, ...rule }) => ({
  ...NO_PLACE,
  ...{ destination_ids: null, is_enabled: true },
  ...rule,
}));

/**
 * The steps that bring an account's alert rules to the desired state. The id of a new account is null: it has the presets.
 * `named` are the names of the file's destinations, whose steps come first.
 */
export async function planAlertRules(
  client: pg.ClientBase,
  account: { id: number | null; name: string },
  wanted: readonly DesiredRule[],
  { file, named: inFile }: { file: ReadFile; named: readonly string[] },
): Promise<Steps> {
  const [stored, destinations]: [readonly RuleSettings[], DestinationRow[]] =
    account.id === null
      ? [NEW_RULES, []]
      : [await listRules(within(client), account.id), await listDestinations(within(client), account.id)];
  const names = new Map(destinations.map(({ id, name }) => [id, name]));
  const exists = (name: string) => inFile.includes(name) || [...names.values()].includes(name);
  for (const rule of wanted) {
    const unknown = rule.destinations?.find((name) => !exists(name));
    if (unknown !== undefined)
      file.problem([...rule.path, 'destinations'], 'The account has no destination with one of these names.');
  }
  const known = new Map(stored.map((rule) => [rule.name, { ...rule, destinations: namesOf(rule, names) }]));
  const steps = wanted.flatMap((rule) => stepFor(account.name, known.get(rule.name), rule) ?? []);
  const named = new Set(wanted.map(({ name }) => name));
  const unnamed = stored.filter(({ name }) => !named.has(name)).map((rule) => removal(account.name, rule));
  return { wanted: steps, unnamed };
}

type StoredRule = RuleSettings & Pick<DesiredRule, 'destinations'>;

/** The names of a rule's destinations, sorted; null = all. A removed destination is named by its id. */
function namesOf({ destination_ids }: RuleSettings, names: ReadonlyMap<number, string>): string[] | null {
  return destination_ids?.map((id) => names.get(id) ?? String(id)).toSorted() ?? null;
}

/** The fields as the file has them. */
function shown(rule: Omit<DesiredRule, 'path'>) {
  const { clear_threshold, for_seconds, for_runs, severity, connection_names, reminder_seconds, is_enabled } =
    rule;
  return {
    ...{ when: conditionText(rule), clear: clear_threshold, for_seconds, runs: for_runs, severity },
    ...{ connections: connection_names, destinations: rule.destinations?.toSorted() ?? 'all' },
    ...{ remind_seconds: reminder_seconds, enabled: is_enabled },
  };
}

function stepFor(account: string, before: StoredRule | undefined, wanted: DesiredRule): Step | null {
  const of = { what: 'alert rule', account, name: wanted.name } as const;
  if (!before) {
    return {
      difference: { action: 'add', ...of, ...changesOf({}, shown(wanted)) },
      make: async (change) => addRule((work) => work(change), await settingsOf(change, wanted), COMMAND_LINE),
    };
  }
  const changes = changesOf(shown(before), shown(wanted));
  if (changes.changed.length === 0) return null;
  return {
    difference: { action: 'change', ...of, ...changes },
    make: async (change) => {
      const id = await idOf(change, wanted.name);
      await changeRule((work) => work(change), id, await settingsOf(change, wanted), COMMAND_LINE);
    },
  };
}

function removal(account: string, { name }: RuleSettings): Step {
  const none = { changed: [], from: {}, to: {} };
  return {
    difference: { action: 'remove', what: 'alert rule', account, name, ...none },
    make: async (change) => removeRule((work) => work(change), await idOf(change, name), COMMAND_LINE),
  };
}

// Destinations that the file adds have ids only now.
async function settingsOf({ client, accountId }: Change, wanted: DesiredRule): Promise<RuleSettings> {
  const { path: _, destinations: names, ...rule } = wanted;
  const destinations = names === null ? [] : await listDestinations(within(client), accountId);
  const ids = destinations.filter(({ name }) => names?.includes(name)).map(({ id }) => id);
  return { ...rule, connection_ids: null, destination_ids: names === null ? null : ids };
}

// A new account's rules have ids only now.
async function idOf({ client, accountId }: Change, name: string): Promise<number> {
  const rules = await listRules(within(client), accountId);
  return rules.find((rule) => rule.name === name)?.id ?? 0;
}
