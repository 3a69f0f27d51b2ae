import { once } from 'node:events';
import type { Command } from 'commander';
import { idOf, listenOf, serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext, UsageError } from '../command.ts';

interface ExporterOptions {
  url?: string;
  account?: number;
  listen?: Listen;
}

interface Listen {
  host: string;
  port: number;
}

interface Source {
  contentType: string;
  scrape: () => Promise<string>;
}

/** `exporter`. */
export function addExporterCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'exporter',
    "serve a service's data, or an account's measured values, as metrics for Prometheus",
  )
    .option(
      '--url <URL>',
      'address of the service; the key is read from DBVITALS_API_KEY; each scrape makes at most one API request',
      serviceUrlOf('--url'),
    )
    .option(
      '--account <ID>',
      'read the latest values of all connections of this account from the store',
      idOf('--account'),
    )
    .option(
      '--listen <HOST:PORT>',
      'address to serve /metrics on (default: 127.0.0.1:9187)',
      listenOf('--listen'),
    )
    .action(async ({ url, account, listen = { host: '127.0.0.1', port: 9187 } }: ExporterOptions) => {
      if ((account === undefined) === (url === undefined)) {
        throw new UsageError('Give --url to read a service, or --account to read the store.');
      }
      if (url !== undefined) {
        const { keepFigures } = await import('./exported-figures.ts');
        await serve(listen, keepFigures(url, context.apiKey(), say));
      } else if (account !== undefined) {
        const { exportMeasures } = await import('./exported-measures.ts');
        await context.withConsoleRole(async (reader) => {
          const measures = exportMeasures(reader, account);
          await measures.scrape();
          await serve(listen, measures);
        });
      }
    });
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Serves `/metrics` until SIGINT or SIGTERM. */
async function serve({ host, port }: Listen, { contentType, scrape }: Source): Promise<void> {
  let failing = '';
  const { createServer } = await import('node:http'); // 43 ms of CPU that other commands save
  const server = createServer(async ({ url }, response) => {
    if (url?.split('?', 1)[0] === '/metrics') {
      try {
        const text = await scrape();
        response.writeHead(200, { 'content-type': contentType }).end(text);
        failing = '';
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== failing) say(`A scrape failed: ${reason}`);
        failing = reason;
        response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' }).end('The scrape failed.\n');
      }
    } else {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('see /metrics\n');
    }
  });
  server.listen(port, host);
  await once(server, 'listening').catch(({ code }) => {
    throw new Error(
      `--listen ${host}:${port} is not available (${code}): choose a free port and an address of this machine.`,
    );
  });
  const address = server.address();
  const shown = host.includes(':') ? `[${host}]` : host;
  const where = `http://${shown}:${typeof address === 'object' && address ? address.port : port}/metrics`;
  process.stdout.write(`dbvitals exporter is ready on ${where}\n`);
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ended.abort());
  await once(ended.signal, 'abort');
  server.close();
  server.closeAllConnections();
}
