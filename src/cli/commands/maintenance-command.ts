import type { Command } from 'commander';
import { requireAccount } from '../../accounts/account-row.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { ConnectionScope } from '../../notifications/connection-scope.ts';
import { addMaintenance, type WantedMaintenance } from '../../notifications/maintenance/add-maintenance.ts';
import { endMaintenance } from '../../notifications/maintenance/end-maintenance.ts';
import { listMaintenance } from '../../notifications/maintenance/list-maintenance.ts';
import {
  accountOfMaintenance,
  type MaintenanceRow,
} from '../../notifications/maintenance/maintenance-row.ts';
import { WEEKDAYS, weekdayNumber, weekdaysText } from '../../notifications/maintenance/weekdays.ts';
import { parseDate } from '../../platform/text/date-range.ts';
import { secondsOf } from '../../platform/text/duration.ts';
import { instantOf } from '../../tickets/silences/until.ts';
import { durationOf, idOf, someOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import {
  CONNECTION_SCOPE,
  connectionScopeOf,
  EVERY_CONNECTION,
  withScopeText,
} from '../connection-scope-option.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { COMMAND_LINE } from './silence-command.ts';

const COLUMNS = ['id', 'name', 'state', 'connections', 'starts_at', 'ends_at', 'every'];

/** `maintenance add`, `maintenance list`, `maintenance remove`. */
export function addMaintenanceCommands(program: Command, context: CommandContext): void {
  const group = program.command('maintenance').description('plan windows in which alerts send nothing');

  addAddCommand(group, context);
  addListCommand(group, context);
  addRemoveCommand(group, context);
}

function addAddCommand(group: Command, context: CommandContext): void {
  addCommand(
    group,
    'add',
    'add a maintenance window, once or each week: checks run as ever, but alerts and tickets send nothing',
  )
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--name <S>', 'what is maintained', textOf('--name'))
    .option(
      '--connection <C>',
      `${CONNECTION_SCOPE} (default: all connections)`,
      connectionScopeOf('--connection'),
    )
    .option(
      '--from <T>',
      'once: the start, a date-time or a duration from now (default: now)',
      startOf('--from'),
    )
    .option('--until <T>', 'once: the end, a date-time', endOf('--until'))
    .option(
      '--for <D>',
      'how long it lasts, such as 2h; at most 30d, or 7d each week',
      durationOf('--for', '1m', '30d'),
    )
    .option(
      '--every <DAY>',
      `each week on this day: ${WEEKDAYS.join(', ')}; may be repeated`,
      someOf('--every', WEEKDAYS),
    )
    .option('--at <HH:MM>', 'each week: the start, in the time zone', textOf('--at'))
    .option(
      '--time-zone <Z>',
      'each week: the time zone, such as Europe/Berlin (default: UTC)',
      textOf('--time-zone'),
    )
    .action(async ({ account, json, ...options }: AddOptions) => {
      const wanted = wantedOf(options);
      const added = await context.withStore((writer) =>
        changeAccount(writer, account, (change) =>
          addMaintenance((work) => work(change), wanted, COMMAND_LINE),
        ),
      );
      print(json, added);
    });
}

function addListCommand(group: Command, context: CommandContext): void {
  addCommand(
    group,
    'list',
    'list the maintenance windows of an account: active, coming, and the latest past ones',
  )
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, json }: { account: number; json?: boolean }) => {
      const rows = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return listMaintenance(async (text, values) => (await writer.query(text, values)).rows, account);
      });
      printList(json, json ? rows : rows.map(shown), COLUMNS);
    });
}

function addRemoveCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'remove', 'end an active maintenance window, or remove a coming one')
    .argument('<ID>', 'the maintenance window', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const ended = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfMaintenance(writer, id), (change) =>
          endMaintenance((work) => work(change), id, COMMAND_LINE),
        ),
      );
      print(json, ended);
    });
}

interface AddOptions extends TimeOptions {
  account: number;
  json?: boolean;
}

interface TimeOptions {
  name: string;
  connection?: ConnectionScope;
  from?: Date;
  until?: Date;
  for?: number;
  every?: (typeof WEEKDAYS)[number][];
  at?: string;
  timeZone?: string;
}

function wantedOf({ name, connection = EVERY_CONNECTION, ...time }: TimeOptions): WantedMaintenance {
  const { from, until, for: seconds, every, at, timeZone } = time;
  if (every === undefined) {
    if (at !== undefined || timeZone !== undefined)
      throw new UsageError('--at and --time-zone are for a window of each week: give --every too.');
    if ((until === undefined) === (seconds === undefined))
      throw new UsageError('Give either --until or --for.');
    const start = from ?? new Date();
    const ends_at = until ?? new Date(start.getTime() + (seconds ?? 0) * 1_000);
    return { name, ...connection, starts_at: from ?? null, ends_at, weekdays: null };
  }
  if (from !== undefined || until !== undefined || at === undefined || seconds === undefined)
    throw new UsageError(
      'A window of each week needs --every, --at and --for, and takes no --from or --until.',
    );
  return {
    name,
    ...connection,
    starts_at: null,
    weekdays: every.map(weekdayNumber),
    start_time: at,
    time_zone: timeZone ?? 'UTC',
    minutes: Math.round(seconds / 60),
  };
}

function startOf(option: string): (text: string) => Date {
  return (text) => {
    const seconds = secondsOf(text);
    if (seconds !== undefined) return new Date(Date.now() + seconds * 1_000);
    const written = parseDate(text);
    if (written !== null) return new Date(Number(written.start / 1_000_000n));
    throw new UsageError(
      `${option} must be a date-time such as 2030-01-31T18:00:00Z, or a duration from now such as 2h.`,
    );
  };
}

function endOf(option: string): (text: string) => Date {
  return (text) => {
    const at = instantOf(text);
    if (at !== null) return at;
    throw new UsageError(
      `${option} must be a date-time such as 2030-01-31T18:00:00Z. For a duration, use --for.`,
    );
  };
}

function print(json: boolean | undefined, row: MaintenanceRow): void {
  printOne(json, json ? row : shown(row));
}

function shown({ weekdays, start_time, time_zone, minutes, ...row }: MaintenanceRow) {
  const every =
    weekdays === null ? null : `${weekdaysText(weekdays)} ${start_time} ${time_zone}, ${minutes} min`;
  return { ...withScopeText(row), every };
}
