import { createServer } from 'node:http';
import type { Command } from 'commander';
import { countOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { readSecretLine } from '../notifications/read-secret-line.ts';
import { receiveWebhook } from '../notifications/receive-webhook.ts';
import { UsageError } from '../usage-error.ts';

interface Options {
  port: number;
  secretStdin?: boolean;
  json?: boolean;
}

/** How long a sender may take for a request, in milliseconds. */
const REQUEST_MS = 10_000;
const MOST_CONNECTIONS = 20;

/** `webhook listen`. */
export function addWebhookCommands(program: Command, _context: CommandContext): void {
  const group = program.command('webhook').description('receive webhooks on your own machine');

  addCommand(group, 'listen', 'receive, verify and print deliveries on 127.0.0.1 until Ctrl-C')
    .option('--port <N>', 'port to listen on, 0 for any free port', countOf('--port', 0, 65_535), 9_099)
    .option(
      '--secret-stdin',
      'read the signing secret (whsec_ or whpk_) from standard input and verify with it',
    )
    .action(async ({ port, secretStdin, json = false }: Options) => {
      const secret = secretStdin ? await readSecretLine('--secret-stdin') : null;
      if (secret !== null && !/^(?:whsec|whpk)_[A-Za-z0-9+/]{20,200}={0,2}$/.test(secret))
        throw new UsageError(
          'The signing secret must begin with whsec_ or whpk_, as "destination add" shows it.',
        );
      const server = createServer((request, response) => {
        receiveWebhook(request, response, secret, (line) =>
          process.stdout.write(json ? line.json : line.text),
        );
      });
      server.requestTimeout = REQUEST_MS;
      server.maxConnections = MOST_CONNECTIONS;
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(port, '127.0.0.1', resolve);
      });
      const address = server.address();
      const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}/`;
      process.stderr.write(
        `Listening on ${url} (a service on this machine needs DBVITALS_ALLOW_PRIVATE_DESTINATIONS=yes).\n`,
      );
      if (secret === null) process.stderr.write('Signatures are not verified: use --secret-stdin.\n');
      await new Promise<void>((resolve) => {
        process.once('SIGINT', resolve).once('SIGTERM', resolve);
      });
      server.close();
      server.closeAllConnections();
    });
}
