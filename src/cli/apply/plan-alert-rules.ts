import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { addRule } from '../../notifications/alerts/add-rule.ts';
import type { RuleRow, RuleSettings } from '../../notifications/alerts/alert-rule.ts';
import { changeRule } from '../../notifications/alerts/change-rule.ts';
import { requireRule } from '../../notifications/alerts/check-rule.ts';
import { listRules } from '../../notifications/alerts/list-rules.ts';
import { NEW_RULES } from '../../notifications/alerts/preset-rules.ts';
import { removeRule } from '../../notifications/alerts/remove-rule.ts';
import {
  type Comparison,
  conditionText,
  newRule,
  parseCondition,
} from '../../notifications/alerts/rule-condition.ts';
import { type DestinationRow, listDestinations } from '../../notifications/destinations/destination-row.ts';
import { within } from '../../store/read.ts';
import { durationOf, textOf } from '../arguments.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import type { Steps } from './apply-step.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenRule } from './configuration-schema.ts';
import { type Kind, reconcile } from './reconcile.ts';
import type { Path } from './schema-problems.ts';
import {
  type DesiredScope,
  parseScope,
  requirePatterns,
  type ScopeNames,
  storedScope,
  type WrittenScope,
} from './scopes/scope-names.ts';

/** The desired state of an alert rule. */
export interface DesiredRule
  extends Omit<RuleSettings, 'connection_ids' | 'connection_names' | 'destination_ids'> {
  path: Path;
  scope: DesiredScope;
  /** Names of destinations; null = all. */
  destinations: readonly string[] | null;
}

const UNKNOWN: Comparison = { metric: 'score', check_id: null, measure: null, operator: '<', threshold: 50 };

/** Parses the alert rules of an account, and notes their problems. */
export function alertRulesIn(file: ReadFile, path: Path, written: readonly WrittenRule[]): DesiredRule[] {
  noteRepeated(file, path, written, 'name', ({ name }) => name.trim());
  return written.map((one, at) => {
    const field = <T>(of: string, parse: () => T) => file.attempt([...path, at, of], parse);
    const { for: held, remind, connections, severity = 'warning', enabled = true, clear, runs = 1 } = one;
    const when = field('when', () => parseCondition(one.when));
    const rule = newRule(when ?? UNKNOWN, {
      name: field('name', () => textOf('The name')(one.name)) ?? '',
      severity,
      clear_threshold: clear ?? null,
      for_runs: runs,
      is_enabled: enabled,
      for_seconds:
        held === undefined ? 0 : (field('for', () => durationOf('The time', '0s', '30d')(held)) ?? 0),
      ...(remind !== undefined && { reminder_seconds: field('remind', () => parseReminder(remind)) ?? null }),
    });
    if (when !== undefined) file.attempt([...path, at], () => requireRule(rule));
    const scope = parseScope(connections);
    field('connections', () => requirePatterns(scope));
    const { connection_ids: _, connection_names: __, destination_ids: ___, ...desired } = rule;
    return { ...desired, path: [...path, at], scope, destinations: one.destinations ?? null };
  });
}

function parseReminder(text: string): number | null {
  return text === 'none' ? null : durationOf('The time between reminders', '5m', '30d')(text);
}

// A file describes an account, also before it has the connections that a pattern is for: "apply" says which match none.
const MAY_MATCH_NONE = { mayMatchNone: true };

type KnownRule = RuleSettings & Pick<RuleRow, 'preset'>;

/**
 * The steps that bring an account's alert rules to the desired state. The id of a new account is null: it has the presets.
 * A preset that the file does not name stays: a list of other rules must not switch off what every account is warned of.
 * `named` are the names of the file's destinations, whose steps come first.
 */
export async function planAlertRules(
  client: pg.ClientBase,
  account: { id: number | null; name: string },
  wanted: readonly DesiredRule[],
  { file, named: inFile, scopes }: { file: ReadFile; named: readonly string[]; scopes: ScopeNames },
): Promise<Steps> {
  const [stored, destinations]: [readonly KnownRule[], DestinationRow[]] =
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
  const rules = stored.map((rule) => ({
    ...rule,
    connections: scopes.writeStored({ ids: rule.connection_ids, names: rule.connection_names }),
    destinations: namesOf(rule, names),
  }));
  return reconcile(ruleKind(scopes), account.name, wanted, rules);
}

type StoredRule = KnownRule & Pick<DesiredRule, 'destinations'> & { connections: WrittenScope | null };

function ruleKind(scopes: ScopeNames): Kind<DesiredRule, StoredRule> {
  return {
    what: 'alert rule',
    key: ({ name }) => name,
    name: ({ name }) => name,
    describe(wanted, before) {
      // The account removed or renamed a rule that every account starts with: its export disables it in other accounts.
      if (!before && !wanted.is_enabled && NEW_RULES.some(({ name }) => name === wanted.name)) return null;
      return shown({ ...wanted, connections: scopes.write(wanted.scope) });
    },
    describeStored: shown,
    add: async (change, wanted) =>
      addRule((work) => work(change), await toRuleSettings(change, wanted), COMMAND_LINE, MAY_MATCH_NONE),
    async change(change, { name }, wanted) {
      const id = await idOf(change, name);
      const settings = await toRuleSettings(change, wanted);
      await changeRule((work) => work(change), id, settings, COMMAND_LINE, MAY_MATCH_NONE);
    },
    remove: async (change, { name }) =>
      removeRule((work) => work(change), await idOf(change, name), COMMAND_LINE),
    isKept: ({ preset }) => preset !== null,
  };
}

/** The names of a rule's destinations, sorted; null = all. Those that were removed are left out. */
function namesOf({ destination_ids }: RuleSettings, names: ReadonlyMap<number, string>): string[] | null {
  return destination_ids?.flatMap((id) => names.get(id) ?? []).toSorted() ?? null;
}

/** The fields as the file has them. */
function shown(rule: Omit<StoredRule, 'connection_ids' | 'connection_names' | 'destination_ids' | 'preset'>) {
  const { clear_threshold, for_seconds, for_runs, severity, connections, reminder_seconds, is_enabled } =
    rule;
  return {
    when: conditionText(rule),
    clear: clear_threshold,
    for_seconds,
    runs: for_runs,
    severity,
    connections,
    destinations: rule.destinations?.toSorted() ?? 'all',
    remind_seconds: reminder_seconds,
    enabled: is_enabled,
  };
}

// Destinations that the file adds have ids only now.
async function toRuleSettings(change: Change, wanted: DesiredRule): Promise<RuleSettings> {
  const { client, accountId } = change;
  const { path: _, scope, destinations: names, ...rule } = wanted;
  const destinations = names === null ? [] : await listDestinations(within(client), accountId);
  const ids = destinations.filter(({ name }) => names?.includes(name)).map(({ id }) => id);
  return { ...rule, ...(await storedScope(change, scope)), destination_ids: names === null ? null : ids };
}

// A new account's rules have ids only now.
async function idOf({ client, accountId }: Change, name: string): Promise<number> {
  const rules = await listRules(within(client), accountId);
  return rules.find((rule) => rule.name === name)?.id ?? 0;
}
