import { once } from 'node:events';
import type { Command } from 'commander';
import { readSettingFile } from '../../config/text-file.ts';
import { idOf, listenOf, serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import type { LatestValues } from './write-measures.ts';

interface ExporterOptions {
  url?: string;
  keyFile?: string;
  account?: number;
  listen?: Listen;
  otlp?: boolean;
}

interface Listen {
  host: string;
  port: number;
}

const DEFAULT_LISTEN: Listen = { host: '127.0.0.1', port: 9187 };

interface Source {
  contentType: string;
  scrape: () => Promise<string>;
  latest: () => Promise<LatestValues>;
}

/** `exporter`. */
export function addExporterCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'exporter',
    "serve what a service knows of an account, or an account's measured values, as metrics for Prometheus",
  )
    .option(
      '--url <URL>',
      'address of the service; each scrape makes at most one API request, and one for each connection that was measured since',
      serviceUrlOf('--url'),
    )
    .option(
      '--key-file <FILE>',
      'with --url: file that contains only the API key; it is read for each request (default: the key is read from DBVITALS_API_KEY)',
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
    .option(
      '--otlp',
      'send the measured values to the OpenTelemetry collector of OTEL_EXPORTER_OTLP_ENDPOINT, every OTEL_METRIC_EXPORT_INTERVAL ms, instead of serving /metrics',
    )
    .action(async ({ url, keyFile, account, listen, otlp }: ExporterOptions) => {
      if ((account === undefined) === (url === undefined)) {
        throw new UsageError('Give --url to read a service, or --account to read the store.');
      }
      if (otlp && listen !== undefined) throw new UsageError('Give --otlp or --listen, not both.');
      const run = otlp ? pusher(context) : (source: Source) => serve(listen ?? DEFAULT_LISTEN, source);
      if (keyFile !== undefined && url === undefined) throw new UsageError('--key-file needs --url.');
      if (url !== undefined) {
        const { keepFigures } = await import('./exported-figures.ts');
        const key = context.apiKey;
        await run(keepFigures(url, keyFile === undefined ? key : keyFrom(keyFile), say));
      } else if (account !== undefined) {
        const { exportMeasures } = await import('./exported-measures.ts');
        await context.withConsoleRole(async (reader) => {
          const measures = exportMeasures(reader, account);
          await measures.latest();
          await run(measures);
        });
      }
    });
}

/** Returns what reads the key from a file. It throws at first; later it keeps the last key while the file can't be read. */
function keyFrom(file: string): () => string {
  let last: string | null = null;
  return () => {
    try {
      last = parseKeyFile(readSettingFile('The file of --key-file', file));
    } catch (error) {
      if (last === null) throw error;
    }
    return last;
  };
}

function parseKeyFile(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new UsageError('The file of --key-file must contain an API key alone.');
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Resolves at SIGINT or SIGTERM. */
async function signalled(): Promise<void> {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ended.abort());
  await once(ended.signal, 'abort');
}

/** Returns what sends values until SIGINT or SIGTERM. Throws if no collector is set. */
function pusher(context: CommandContext): (source: Source) => Promise<void> {
  const settings = context.metricSettings();
  if (settings === null) {
    throw new UsageError('Set OTEL_EXPORTER_OTLP_ENDPOINT to the collector, such as http://127.0.0.1:4318.');
  }
  return async ({ latest }) => {
    const { pushOtlp } = await import('./push-otlp.ts');
    const ended = signalled();
    const stop = pushOtlp(latest, settings, say);
    process.stdout.write('dbvitals exporter sends measured values to the OpenTelemetry collector\n');
    // The SDK's timer does not keep the process alive, and neither do signals.
    const alive = setInterval(() => {}, settings.intervalMs);
    await ended;
    await stop();
    clearInterval(alive);
  };
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
  const ended = signalled(); // before anybody is told
  process.stdout.write(`dbvitals exporter is ready on ${where}\n`);
  await ended;
  server.close();
  server.closeAllConnections();
}
