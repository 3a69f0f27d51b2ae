import type { Command } from 'commander';
import type pg from 'pg';
import { requireAccount } from '../../accounts/account-row.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { acknowledgeAlert } from '../../notifications/alerts/acknowledge-alert.ts';
import type { AlertRow } from '../../notifications/alerts/alert-row.ts';
import { listOpenAlerts, listResolvedAlerts } from '../../notifications/alerts/list-alerts.ts';
import { accountOfAlert } from '../../notifications/alerts/read-alert.ts';
import { unacknowledgeAlert } from '../../notifications/alerts/unacknowledge-alert.ts';
import type { Read } from '../../store/read.ts';
import { untilOf } from '../../tickets/silences/until.ts';
import { countOf, idOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { addAlertRuleCommands } from './alert-rule-command.ts';
import { COMMAND_LINE } from './silence-command.ts';

const ALERT_COLUMNS = [
  'id',
  'severity',
  'rule',
  'connection',
  'value',
  'since',
  'acknowledged',
  'resolved_at',
];

/** `alert rule …`, `alert list`, `alert acknowledge`, `alert unacknowledge`. */
export function addAlertCommands(program: Command, context: CommandContext): void {
  const group = program.command('alert').description('rules that raise alerts, and the alerts');
  addAlertRuleCommands(group.command('rule').description('manage alert rules'), context);

  addCommand(group, 'list', 'list the open alerts, or with --resolved those that are over')
    .option('--account <ID>', 'alerts of this account', idOf('--account'))
    .option('--connection <ID>', 'alerts of this connection', idOf('--connection'))
    .option('--resolved', 'the latest resolved alerts instead')
    .option('--before <ID>', 'with --resolved: those before this alert', idOf('--before'))
    .option('--limit <N>', 'with --resolved: how many, 1 to 500 (default: 50)', countOf('--limit', 1, 500))
    .action(async ({ json, ...options }: ListOptions) => {
      const alerts = (await context.withEachStore((writer) => alertsFor(writer, options))).flat();
      printList(json, json ? alerts : alerts.map(shownAlert), ALERT_COLUMNS);
    });

  addCommand(group, 'acknowledge', 'acknowledge an open alert: no reminders until the time is over')
    .argument('<ID>', 'the alert', idOf('ID'))
    .requiredOption('--note <S>', 'what you do about it, for your team', textOf('--note'))
    .option(
      '--until <T>',
      'a date, a date-time or a duration (default: until it is resolved)',
      untilOf('--until'),
    )
    .action(async (id: number, { note, until, json }: { note: string; until?: Date; json?: boolean }) => {
      const alert = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfAlert(writer, id), (change) =>
          acknowledgeAlert((work) => work(change), id, { until: until ?? null, note }, COMMAND_LINE),
        ),
      );
      printOne(json, json ? alert : shownAlert(alert));
    });

  addCommand(group, 'unacknowledge', 'take back an acknowledgement: reminders begin again')
    .argument('<ID>', 'the alert', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const alert = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfAlert(writer, id), (change) =>
          unacknowledgeAlert((work) => work(change), id, COMMAND_LINE),
        ),
      );
      printOne(json, json ? alert : shownAlert(alert));
    });
}

interface ListOptions {
  account?: number;
  connection?: number;
  resolved?: true;
  before?: number;
  limit?: number;
  json?: boolean;
}

function readWith(writer: pg.Pool): Read {
  return async (text, values) => (await writer.query(text, values)).rows;
}

async function alertsFor(writer: pg.Pool, options: ListOptions): Promise<AlertRow[]> {
  const { account, connection, resolved, before = null, limit = 50 } = options;
  if ((account === undefined) === (connection === undefined)) {
    throw new UsageError('Give either --account or --connection.');
  }
  if (account !== undefined) await requireAccount(writer, account);
  const accountId = account ?? (await ownerOfConnection(writer, connection ?? 0));
  const connectionId = connection ?? null;
  if (!resolved) return listOpenAlerts(readWith(writer), accountId, connectionId);
  return (await listResolvedAlerts(readWith(writer), accountId, { before, limit, connectionId })).items;
}

function shownAlert(alert: AlertRow) {
  const { id, severity, rule_name, connection_name, metric, operator, threshold, value, since } = alert;
  const until =
    alert.acknowledged_until === null ? 'until resolved' : `until ${alert.acknowledged_until.toISOString()}`;
  return {
    id,
    severity,
    rule: rule_name,
    connection: connection_name,
    value: `${metric} ${value} (${operator} ${threshold})`,
    object: alert.details.object,
    since,
    acknowledged: alert.acknowledged_at === null ? null : `${until}: ${alert.acknowledged_note}`,
    resolved_at: alert.resolved_at,
    resolution: alert.resolution,
  };
}
