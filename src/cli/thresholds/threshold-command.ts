import type { Command } from 'commander';
import type pg from 'pg';
import { requireAccount } from '../../accounts/account-row.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { ThresholdChanges } from '../../connections/connection-thresholds.ts';
import { changeOverrides, requireScope } from '../../connections/thresholds/change-overrides.ts';
import {
  listOverrides,
  listThresholdConnections,
  readAuthors,
} from '../../connections/thresholds/list-overrides.ts';
import { previewThresholds, type ThresholdPreview } from '../../connections/thresholds/preview-thresholds.ts';
import { exportThresholds } from '../../connections/thresholds/threshold-file.ts';
import { within } from '../../store/read.ts';
import { idOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { thresholdsOf } from './thresholds.ts';

/** A threshold as `threshold list` prints it. */
interface ListedThreshold {
  level: 'account' | 'tag' | 'connection';
  /** The tag, or the connection's name; '' for the account. */
  of: string;
  check_id: string;
  name: string;
  value: number;
  changed_at: Date | null;
  changed_by: string | null;
}

async function listThresholds(writer: pg.Pool, account: number): Promise<ListedThreshold[]> {
  await requireAccount(writer, account);
  const read = within(writer);
  const overrides = await listOverrides(read, account);
  const connections = (await listThresholdConnections(read, account)).filter(
    ({ thresholds }) => Object.keys(thresholds).length > 0,
  );
  const authors = await readAuthors(
    read,
    account,
    connections.map(({ id }) => id),
  );
  const authorOf = new Map(authors.map((one) => [`${one.connection_id} ${one.subject}`, one]));
  return [
    ...overrides.map(({ tag, ...one }) => ({
      level: tag === '' ? ('account' as const) : ('tag' as const),
      of: tag,
      ...one,
    })),
    ...connections.flatMap(({ id, name: of, thresholds }) =>
      Object.entries(thresholds).flatMap(([check_id, named]) =>
        Object.entries(named).map(([name, value]) => {
          const author = authorOf.get(`${id} ${check_id} ${name}`);
          return {
            level: 'connection' as const,
            of,
            check_id,
            name,
            value,
            changed_at: author?.changed_at ?? null,
            changed_by: author?.changed_by ?? null,
          };
        }),
      ),
    ),
  ];
}

function printPreview(json: boolean | undefined, { findings, ...preview }: ThresholdPreview): void {
  if (json) {
    printOne(json, { ...preview, findings });
    return;
  }
  printOne(json, preview);
  if (findings.length === 0) return;
  process.stdout.write('\n');
  printList(
    json,
    findings.map(({ before, after, connection_name, ...finding }) => ({
      connection: connection_name,
      ...finding,
      before: before ?? 'none',
      after: after ?? 'none',
    })),
    ['connection', 'check_id', 'database', 'object', 'before', 'after', 'metric', 'value'],
  );
}

/** `threshold list`, `threshold change`, `threshold preview`, `threshold export`. */
export function addThresholdCommands(program: Command, context: CommandContext): void {
  const group = program
    .command('threshold')
    .description('set thresholds of all connections, or of those with a tag');

  addCommand(group, 'list', 'list the thresholds that differ from the defaults, and who set them')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, json }: { account: number; json?: boolean }) => {
      const listed = await context.withStore((writer) => listThresholds(writer, account));
      printList(json, listed, ['level', 'of', 'check_id', 'name', 'value', 'changed_at', 'changed_by']);
    });

  const addChange = (name: string, description: string) =>
    addCommand(group, name, description)
      .requiredOption('--account <ID>', 'the account', idOf('--account'))
      .option('--tag <TAG>', 'only connections with this tag, such as env:test (default: all connections)')
      .requiredOption(
        '--threshold <CHECK_ID.name=number>',
        'a threshold, may be repeated; leave out the number to remove it',
        thresholdsOf,
      );

  addChange('change', 'set thresholds: the next run of each connection uses them').action(
    async ({ account, tag, threshold, json }: ChangeOptions) => {
      const scope = scopeOf(tag);
      const changed = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return changeOverrides((work) => changeAccount(writer, account, work), scope, threshold);
      });
      printOne(json, { changed });
    },
  );

  addChange('preview', 'show what thresholds would have changed in the last runs, and change nothing').action(
    async ({ account, tag, threshold, json }: ChangeOptions) => {
      const scope = { tag: scopeOf(tag) };
      const preview = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return previewThresholds(within(writer), account, scope, threshold);
      });
      printPreview(json, preview);
    },
  );

  group
    .command('export')
    .description('print the thresholds of an account as a file for apply')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account }: { account: number }) => {
      const text = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return exportThresholds(within(writer), account);
      });
      process.stdout.write(text);
    });
}

interface ChangeOptions {
  account: number;
  tag?: string;
  threshold: ThresholdChanges;
  json?: boolean;
}

function scopeOf(tag: string | undefined): string {
  if (tag === '') throw new UsageError('--tag must be a tag, such as env:test.');
  return requireScope(tag ?? null);
}
