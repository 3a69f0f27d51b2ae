import { once } from 'node:events';
import type { Command } from 'commander';
import { listenOf, serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';

interface ExporterOptions {
  url: string;
  listen?: { host: string; port: number };
}

/** `exporter`. */
export function addExporterCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'exporter',
    "serve a service's data as metrics for Prometheus; each scrape makes at most one API request",
  )
    .requiredOption(
      '--url <URL>',
      'address of the service; the key is read from DBVITALS_API_KEY',
      serviceUrlOf('--url'),
    )
    .option(
      '--listen <HOST:PORT>',
      'address to serve /metrics on (default: 127.0.0.1:9187)',
      listenOf('--listen'),
    )
    .action(async ({ url, listen = { host: '127.0.0.1', port: 9187 } }: ExporterOptions) => {
      const { keepFigures } = await import('./exported-figures.ts');
      const figures = keepFigures(url, context.apiKey(), (line) => process.stderr.write(`${line}\n`));
      await serve(listen, async () => ({
        text: await figures.scrape(),
        contentType: figures.contentType,
      }));
    });
}

/** Serves `/metrics` until SIGINT or SIGTERM. */
async function serve(
  { host, port }: { host: string; port: number },
  scrape: () => Promise<{ text: string; contentType: string }>,
): Promise<void> {
  const { createServer } = await import('node:http'); // 43 ms of CPU that other commands save
  const server = createServer(async ({ url }, response) => {
    if (url?.split('?', 1)[0] === '/metrics') {
      const { text, contentType } = await scrape();
      response.writeHead(200, { 'content-type': contentType }).end(text);
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
