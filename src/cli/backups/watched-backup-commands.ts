import type { Command } from 'commander';
import type pg from 'pg';
import { type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import { renewHeartbeat, revokeHeartbeat } from '../../connections/backups/backup-heartbeat.ts';
import { listReports } from '../../connections/backups/list-reports.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { within } from '../../store/read.ts';
import { countOf, idOf, serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';

interface Options {
  connection: number;
  url?: string;
  revoke?: boolean;
  limit?: number;
  json?: boolean;
}

const COLUMNS = ['at', 'source', 'label', 'succeeded', 'started_at', 'bytes'];

const NOTES = `
The backup job calls the URL when it ends:

  curl -fsS -m 30 --retry 5 -X POST "$URL"              it succeeded
  curl -fsS -m 30 --retry 5 -X POST "$URL?size=$BYTES"  ... with the size of the backup
  curl -fsS -m 30 --retry 5 -X POST "$URL/fail"         it failed
  curl -fsS -m 30 --retry 5 -X POST "$URL/$?"           by its exit code
  curl -fsS -m 30 --retry 5 -X POST "$URL/start"        it begins

The URL is a secret and is shown once. The next call of this command replaces it.`;

async function changeOf(writer: pg.Pool, connectionId: number): Promise<ChangeAccount> {
  const accountId = await ownerOfConnection(writer, connectionId);
  return (work) => changeAccount(writer, accountId, work);
}

/** `backup heartbeat`, `backup history`: the backups of watched databases. */
export function addWatchedBackupCommands(backup: Command, context: CommandContext): void {
  addCommand(backup, 'heartbeat', "create the URL that a watched database's backup job calls")
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .option('--revoke', 'end the URL instead')
    .option(
      '--url <URL>',
      'address of the service (default: that of the service of the data folder, else DBVITALS_PUBLIC_URL, else from HOST and PORT)',
      serviceUrlOf('--url'),
    )
    .addHelpText('after', NOTES)
    .action(async ({ connection, revoke, url, json }: Options) => {
      if (revoke) {
        if (url !== undefined) throw new UsageError('Give either --revoke or --url.');
        await context.withStore(async (writer) =>
          revokeHeartbeat(await changeOf(writer, connection), connection),
        );
        return printOne(json, { connection_id: connection, revoked: true });
      }
      const token = await context.withStore(async (writer) =>
        renewHeartbeat(await changeOf(writer, connection), connection),
      );
      const service = (url ?? context.consoleUrl()).replace(/\/$/, '');
      printOne(json, { connection_id: connection, url: `${service}/heartbeat/${token}` });
    });

  addCommand(
    backup,
    'history',
    'list what was reported of the backups of a watched database, the newest first',
  )
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .option('--limit <N>', 'how many at most (default: 20)', countOf('--limit', 1, 500))
    .action(async ({ connection, limit = 20, json }: Options) => {
      const rows = await context.withStore(async (writer) =>
        listReports(within(writer), await ownerOfConnection(writer, connection), connection, limit),
      );
      printList(json, rows, COLUMNS);
    });
}
