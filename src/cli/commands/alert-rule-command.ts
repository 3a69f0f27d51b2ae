import type { Command } from 'commander';
import { requireAccount } from '../../accounts/account-row.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { addRule } from '../../notifications/alerts/add-rule.ts';
import { accountOfRule, type RuleRow, type RuleSettings } from '../../notifications/alerts/alert-rule.ts';
import { changeRule } from '../../notifications/alerts/change-rule.ts';
import { listRules } from '../../notifications/alerts/list-rules.ts';
import { removeRule } from '../../notifications/alerts/remove-rule.ts';
import {
  CONDITION_EXAMPLES,
  type Comparison,
  conditionText,
  newRule,
  parseCondition,
} from '../../notifications/alerts/rule-condition.ts';
import type { ConnectionScope } from '../../notifications/connection-scope.ts';
import { SEVERITIES, type Severity } from '../../vocabulary/severities.ts';
import { countOf, durationOf, idOf, numberOf, oneOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { CONNECTION_SCOPE, connectionScopeOf } from '../connection-scope-option.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { COMMAND_LINE } from './silence-command.ts';

const RULE_COLUMNS = ['id', 'name', 'when', 'for', 'severity', 'connections', 'enabled'];

/** `alert rule add`, `alert rule list`, `alert rule change`, `alert rule remove`. */
export function addAlertRuleCommands(group: Command, context: CommandContext): void {
  ruleOptions(
    addCommand(group, 'add', 'add an alert rule: it is evaluated in every health check')
      .requiredOption('--account <ID>', 'the account', idOf('--account'))
      .requiredOption('--when <C>', `the condition, such as ${CONDITION_EXAMPLES}`, parseCondition),
  ).action(
    async ({ account, when, json, ...options }: RuleOptions & { account: number; when: Comparison }) => {
      const rule = newRule(when, settingsOf(options));
      const added = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return changeAccount(writer, account, (change) =>
          addRule((work) => work(change), rule, COMMAND_LINE),
        );
      });
      printOne(json, json ? added : shownRule(added));
    },
  );

  addCommand(group, 'list', 'list the alert rules of an account')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, json }: { account: number; json?: boolean }) => {
      const rules = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return listRules(async (text, values) => (await writer.query(text, values)).rows, account);
      });
      printList(json, json ? rules : rules.map(shownRule), RULE_COLUMNS);
    });

  ruleOptions(
    addCommand(group, 'change', 'change an alert rule: the next health check judges its open alerts by it')
      .argument('<ID>', 'the rule', idOf('ID'))
      .option('--when <C>', 'another condition', parseCondition)
      .option('--all-connections', 'cover every connection')
      .option('--all-destinations', 'tell every destination')
      .option('--no-clear', 'no clearing value: over as soon as the condition no longer holds')
      .option('--enable', 'evaluate it again')
      .option('--disable', 'evaluate it no more, and resolve its alerts'),
  ).action(async (id: number, { json, ...options }: ChangeOptions) => {
    const changes = changesOf(options);
    if (Object.keys(changes).length === 0)
      throw new UsageError('Say what to change: see "alert rule change --help".');
    const changed = await context.withStore(async (writer) =>
      changeAccount(writer, await accountOfRule(writer, id), (change) =>
        changeRule((work) => work(change), id, changes, COMMAND_LINE),
      ),
    );
    printOne(json, json ? changed : shownRule(changed));
  });

  addCommand(group, 'remove', 'remove an alert rule, and resolve its alerts')
    .argument('<ID>', 'the rule', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const removed = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfRule(writer, id), (change) =>
          removeRule((work) => work(change), id, COMMAND_LINE),
        ),
      );
      printOne(json, json ? removed : shownRule(removed));
    });
}

function ruleOptions(command: Command): Command {
  return command
    .option('--name <S>', 'the name in messages (default: the condition)', textOf('--name'))
    .option(
      '--clear <N>',
      'the value at which an alert is over (default: the one of --when)',
      numberOf('--clear'),
    )
    .option('--for <D>', 'how long the condition must hold, at most 30d', durationOf('--for', '0s', '30d'))
    .option('--runs <N>', 'in how many health checks in a row it must hold', countOf('--runs', 1, 100))
    .option('--severity <S>', `${SEVERITIES.join(', ')} (default: warning)`, oneOf('--severity', SEVERITIES))
    .option(
      '--connection <C>',
      `${CONNECTION_SCOPE} (default: all connections)`,
      connectionScopeOf('--connection'),
    )
    .option(
      '--destination <ID>',
      'tell only this destination; may be repeated (default: all)',
      idsOf('--destination'),
    )
    .option(
      '--remind <D>',
      'repeat an open alert each so often, or none (default: 12h, none for info)',
      reminderOf,
    );
}

interface RuleOptions {
  name?: string;
  clear?: number | false;
  for?: number;
  runs?: number;
  severity?: Severity;
  connection?: ConnectionScope;
  destination?: number[];
  remind?: number | 'none';
  json?: boolean;
}

interface ChangeOptions extends RuleOptions {
  when?: Comparison;
  allConnections?: true;
  allDestinations?: true;
  enable?: true;
  disable?: true;
}

function settingsOf(options: RuleOptions): Partial<Omit<RuleSettings, keyof Comparison>> {
  const { name, clear, for: seconds, runs, severity, connection, destination, remind } = options;
  return {
    ...(name !== undefined && { name }),
    ...(typeof clear === 'number' && { clear_threshold: clear }),
    ...(seconds !== undefined && { for_seconds: seconds }),
    ...(runs !== undefined && { for_runs: runs }),
    ...(severity !== undefined && { severity }),
    ...connection,
    ...(destination !== undefined && { destination_ids: destination }),
    ...(remind !== undefined && { reminder_seconds: remind === 'none' ? null : remind }),
  };
}

function changesOf({ when, allConnections, allDestinations, enable, disable, ...options }: ChangeOptions) {
  if (enable && disable) throw new UsageError('Give either --enable or --disable.');
  if (allConnections && options.connection)
    throw new UsageError('Give either --connection or --all-connections.');
  if (allDestinations && options.destination)
    throw new UsageError('Give either --destination or --all-destinations.');
  const changes: Partial<RuleSettings> = {
    ...when,
    ...settingsOf(options),
    ...(options.clear === false && { clear_threshold: null }),
    ...(allConnections && { connection_ids: null, connection_names: null }),
    ...(allDestinations && { destination_ids: null }),
    ...((enable || disable) && { is_enabled: enable === true }),
  };
  return changes;
}

function idsOf(option: string): (text: string, before: number[] | undefined) => number[] {
  return (text, before = []) => [...before, idOf(option)(text)];
}

// Commander takes null for a missing value.
function reminderOf(text: string): number | 'none' {
  return text === 'none' ? text : durationOf('--remind', '5m', '30d')(text);
}

function shownRule(rule: RuleRow) {
  const { id, name, for_seconds, for_runs, severity, connection_ids: ids, connection_names: names } = rule;
  const clear = rule.clear_threshold === null ? '' : `, over at ${rule.clear_threshold}`;
  const held = [
    ...(for_seconds > 0 ? [`${for_seconds} s`] : []),
    ...(for_runs > 1 ? [`${for_runs} runs`] : []),
  ];
  const connections = ids === null && names === null ? 'all' : [...(ids ?? []), ...(names ?? [])].join(', ');
  const reminder = rule.reminder_seconds === null ? 'none' : `every ${rule.reminder_seconds / 60} min`;
  return {
    id,
    name,
    when: `${conditionText(rule)}${clear}`,
    for: held.join(', ') || null,
    severity,
    connections,
    destinations: rule.destination_ids?.join(', ') ?? 'all',
    reminder,
    enabled: rule.is_enabled ? 'yes' : 'no',
  };
}
