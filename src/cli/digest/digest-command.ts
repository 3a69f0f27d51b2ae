import type { Command } from 'commander';
import { digestHtml } from '../../notifications/channels/mail/digest-part.ts';
import { toDigestReport } from '../../notifications/channels/report/digest-report.ts';
import { digestText } from '../../notifications/digest/digest-text.ts';
import { readDigest } from '../../notifications/digest/read-digest.ts';
import type { DigestText } from '../../notifications/event.ts';
import { requireTimeZone } from '../../notifications/maintenance/time-zone.ts';
import { notFound } from '../../platform/rejection.ts';
import { readAs } from '../../store/read.ts';
import { countOf, idOf, serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { cell, jsonLine } from '../print.ts';
import { UsageError } from '../usage-error.ts';

const NOTES = `
It tells what opened, what closed and what is still open, what nobody touched, backups that are
missing, what will be full, what grows most, and the score against that of the time before. A fleet
without problems takes two lines.

The service sends it by itself to a destination that has a schedule:

  dbvitals destination change 3 --digest mon,07:00@Europe/Berlin`;

interface Options {
  account: number;
  days?: number;
  timeZone?: string;
  url?: string;
  html?: boolean;
  json?: boolean;
}

/** `digest`. */
export function addDigestCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'digest',
    'sum up the last week of an account: what opened, closed, stayed open and grew',
  )
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .option('--days <N>', 'how many days it covers, 1 to 31 (default: 7)', countOf('--days', 1, 31))
    .option('--time-zone <ZONE>', 'of the dates, such as Europe/Berlin (default: UTC)', requireTimeZone)
    .option('--html', 'print HTML instead of text')
    .option(
      '--url <URL>',
      'address of the console for links (default: that of the service of the data folder, else DBVITALS_PUBLIC_URL, else from HOST and PORT)',
      serviceUrlOf('--url'),
    )
    .addHelpText('after', NOTES)
    .action(async ({ account, days = 7, timeZone = 'UTC', url, html, json }: Options) => {
      if (html && json) throw new UsageError('Give either --html or --json.');
      const from = new Date(Date.now() - days * 86_400_000);
      const { result: digest } = await context.withConsoleRole((reader) =>
        readAs(reader, account, (read) => readDigest(read, account, from)),
      );
      if (!digest) throw notFound('account', account);
      if (json) return void process.stdout.write(jsonLine(digest));
      const text = digestText(digest, timeZone);
      const consoleUrl = (url ?? context.consoleUrl()).replace(/\/$/, '');
      const place = { consoleUrl, account: digest.account.name };
      process.stdout.write(html ? digestHtml(toDigestReport(text, place)) : plain(text, consoleUrl));
    });
}

function plain({ title, summary, parts }: DigestText, consoleUrl: string): string {
  const head = summary.map((line) => cell(line));
  if (parts.length === 0) return `${cell(title)}: ${head.join('\n')}\n`;
  const listed = parts.flatMap(({ heading, lines }) => [
    '',
    heading,
    ...lines.map(({ text, path }) => `  ${cell(text)}\n    ${consoleUrl}${path}`),
  ]);
  return `${[cell(title), ...head, ...listed].join('\n')}\n`;
}
