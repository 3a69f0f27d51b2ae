import type { Command } from 'commander';
import type pg from 'pg';
import { requireAccount } from '../../accounts/account-row.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { OWN_OPERATORS, OWN_UNITS, type OwnCheck } from '../../checks/own/own-check.ts';
import { listOwnChecks, type StoredOwnCheck } from '../../connections/own-checks/list-own-checks.ts';
import { TIMEOUT_SECONDS } from '../../connections/own-checks/own-check-rules.ts';
import { removeOwnCheck } from '../../connections/own-checks/remove-own-check.ts';
import { setOwnCheck } from '../../connections/own-checks/set-own-check.ts';
import { within } from '../../store/read.ts';
import { idOf, numberOf, oneOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import { printList, printOne } from '../print.ts';
import { engineOf, everyOf, timeoutOf, WRITTEN_ENGINES } from './own-check-schema.ts';

const COLUMNS = ['id', 'title', 'engine', 'level', 'every', 'tags', 'changed_by'];

/** `check own set`, `check own list`, `check own remove`. */
export function addOwnCheckCommands(group: Command, context: CommandContext): void {
  addCommand(group, 'set', 'add an own check, or replace the one of its id')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--id <CHECK>', 'capital letters, digits and _, such as ORDERS_STUCK')
    .requiredOption('--title <S>', 'what is wrong when it reports')
    .requiredOption('--engine <E>', WRITTEN_ENGINES.join(', '), oneOf('--engine', WRITTEN_ENGINES))
    .requiredOption('--sql <SQL>', 'one SELECT that gives value, or rows of object and value')
    .requiredOption('--unit <U>', OWN_UNITS.join(', '), oneOf('--unit', OWN_UNITS))
    .requiredOption('--operator <O>', OWN_OPERATORS.join(' or '), oneOf('--operator', OWN_OPERATORS))
    .option('--warning <N>', 'the value from which it is a warning', numberOf('--warning'))
    .option('--critical <N>', 'the value from which it is critical', numberOf('--critical'))
    .option('--database <S>', 'the database in which it runs (default: that of the connection)')
    .option('--remediation <S>', 'what to do, for your team: nothing runs it')
    .option('--every <D>', 'how often it runs at most, 1m to 7d (default: in each run)', everyOf('--every'))
    .option(
      '--timeout <D>',
      `how long it may take, 1s to 30s (default: ${TIMEOUT_SECONDS.usual}s)`,
      timeoutOf('--timeout'),
    )
    .option('--tag <TAG>', 'only connections with this tag; may be repeated, for all of them', tagsOf)
    .action(async ({ account, json, ...options }: SetOptions & { account: number; json?: boolean }) => {
      const stored = await context.withStore((writer) =>
        inAccount(writer, account, (change) => setOwnCheck(change, toOwnCheck(options), COMMAND_LINE)),
      );
      printOne(json, stored);
    });

  addCommand(group, 'list', 'list the own checks of an account')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, json }: { account: number; json?: boolean }) => {
      const own = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return listOwnChecks(within(writer), account);
      });
      printList(json, json ? own : own.map(toLine), COLUMNS);
    });

  addCommand(group, 'remove', 'remove an own check: the next run resolves its tickets')
    .argument('<CHECK>', 'the id of the own check, without OWN_')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async (id: string, { account, json }: { account: number; json?: boolean }) => {
      const removed = await context.withStore((writer) =>
        inAccount(writer, account, (change) => removeOwnCheck(change, id, COMMAND_LINE)),
      );
      printOne(json, removed);
    });
}

interface SetOptions {
  id: string;
  title: string;
  engine: (typeof WRITTEN_ENGINES)[number];
  sql: string;
  unit: OwnCheck['unit'];
  operator: OwnCheck['operator'];
  warning?: number;
  critical?: number;
  database?: string;
  remediation?: string;
  every?: number;
  timeout?: number;
  tag?: string[];
}

function toOwnCheck({ engine, tag, ...options }: SetOptions): OwnCheck {
  return {
    database: null,
    warning: null,
    critical: null,
    remediation: '',
    every: null,
    timeout: TIMEOUT_SECONDS.usual,
    ...options,
    engine: engineOf(engine),
    sql: options.sql.trim(),
    tags: tag ?? [],
  };
}

async function inAccount<T>(
  writer: pg.Pool,
  account: number,
  work: Parameters<typeof changeAccount<T>>[2],
): Promise<T> {
  await requireAccount(writer, account);
  return changeAccount(writer, account, work);
}

function toLine({ operator, warning, critical, tags, every, ...own }: StoredOwnCheck) {
  const levels = [warning, critical].map((level) => level ?? '-').join(' / ');
  return {
    ...own,
    level: `${operator} ${levels}`,
    every: every === null ? 'each run' : `${every} s`,
    tags: tags.join(', '),
  };
}

function tagsOf(text: string, before: string[] = []): string[] {
  return [...before, text];
}
