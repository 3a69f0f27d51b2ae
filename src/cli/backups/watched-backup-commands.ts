import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type pg from 'pg';
import { type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import { renewHeartbeat, revokeHeartbeat } from '../../connections/backups/backup-heartbeat.ts';
import { listReports } from '../../connections/backups/list-reports.ts';
import { storeReports } from '../../connections/backups/store-reports.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { within } from '../../store/read.ts';
import { countOf, idOf, oneOf, serviceUrlOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { BACKUP_TOOLS, type BackupTool, LARGEST_REPORT, parseReport } from './parse-reports.ts';

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

/** `backup heartbeat`, `backup report`, `backup history`: the backups of watched databases. */
export function addWatchedBackupCommands(backup: Command, context: CommandContext): void {
  addReportCommand(backup, context);
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

const REPORT_NOTES = `
FILE - is standard input, so a timer can report for a tool on another machine:

  ssh db1 pgbackrest info --output=json | dbvitals backup report --connection 3 --from pgbackrest -
  ssh backup barman --format json list-backup main | dbvitals backup report --connection 3 --from barman -
  ssh db1 wal-g backup-list --detail --json | dbvitals backup report --connection 3 --from walg -
  mariadb --batch --execute "set time_zone = '+00:00'; select uuid, start_time, end_time
    from mysql.mariadb_backup_history" | dbvitals backup report --connection 3 --from mariabackup -

Backups that were reported before are left out, so the command can run as often as you like.`;

interface ReportOptions {
  connection: number;
  from: BackupTool;
  stanza?: string;
  server?: string;
  json?: boolean;
}

function addReportCommand(backup: Command, context: CommandContext): void {
  addCommand(backup, 'report', "read a tool's own report of the backups of a watched database")
    .argument('<FILE>', 'the report; - is standard input')
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .requiredOption('--from <TOOL>', BACKUP_TOOLS.join(', '), oneOf('--from', BACKUP_TOOLS))
    .option('--stanza <S>', 'pgBackRest: the stanza, if the report has several', textOf('--stanza'))
    .option('--server <S>', 'Barman: the server, if the report has several', textOf('--server'))
    .addHelpText('after', REPORT_NOTES)
    .action(async (file: string, { connection, from, stanza, server, json }: ReportOptions) => {
      if (stanza !== undefined && from !== 'pgbackrest') throw new UsageError('--stanza is for pgBackRest.');
      if (server !== undefined && from !== 'barman') throw new UsageError('--server is for Barman.');
      const text = await readText(file === '-' ? process.stdin : createReadStream(file));
      const reports = parseReport(from, { text, name: stanza ?? server });
      const added = await context.withStore(async (writer) =>
        (await changeOf(writer, connection))((change) => storeReports(change, connection, from, reports)),
      );
      printOne(json, { connection_id: connection, read: reports.length, added });
    });
}

/** Reads no more than a report may have, and one piece to tell that it has more. */
async function readText(input: Readable): Promise<string> {
  let text = '';
  try {
    for await (const piece of input.setEncoding('utf8')) {
      text += piece;
      if (text.length > LARGEST_REPORT) break;
    }
  } catch {
    throw new UsageError('The file of the report can not be read.');
  }
  return text;
}
