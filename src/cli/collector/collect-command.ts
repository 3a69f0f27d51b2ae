import type { Command } from 'commander';
import type { CollectorIdentity } from '../../monitor/collector/collector-key.ts';
import { countOf, serviceUrlOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { UsageError } from '../usage-error.ts';

interface Options {
  url: string;
  name: string;
  file: string;
  folder: string;
  tokenFile?: string;
  concurrency: number;
  buffer: number;
  pulse: boolean;
}

/** `collect`. */
export function addCollectCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'collect',
    'run health checks where the databases are, and deliver them to a service; nothing listens',
  )
    .requiredOption('--url <URL>', 'address of the service: https, or http on this machine', collectedUrlOf)
    .requiredOption('--name <S>', 'name of this collector, as its token was made for', textOf('--name'))
    .option(
      '--file <FILE>',
      'the connections with their logins; only this user may read it',
      'collector.yaml',
    )
    .option(
      '--folder <DIR>',
      'where the key of this collector is kept, and what waits for delivery',
      'dbvitals-collector',
    )
    .option('--token-file <FILE>', 'token of "collector enrol", needed until this collector is enrolled')
    .option(
      '--concurrency <N>',
      'health checks to run at the same time, 1 to 20',
      countOf('--concurrency', 1, 20),
      4,
    )
    .option(
      '--buffer <MIB>',
      'the most MiB that wait for delivery while the service is away, 1 to 10,000; the oldest results make room',
      countOf('--buffer', 1, 10_000),
      512,
    )
    .option('--no-pulse', 'take no pulses and show no live view: health checks only')
    .action(async (options: Options) => {
      const stopped = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
      await collect(options, context, stopped.signal);
    });
}

function collectedUrlOf(text: string): string {
  const url = serviceUrlOf('--url')(text);
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)) return url;
  throw new UsageError('--url must begin with https://, because results are confidential.');
}

async function collect(
  { url, name, file, folder, tokenFile, concurrency, buffer, pulse }: Options,
  context: CommandContext,
  until: AbortSignal,
): Promise<void> {
  const { readCollectorFile } = await import('./collector-file.ts');
  const { Collector } = await import('../../monitor/collector/collect.ts');
  const { buildVersion } = await import('../../config/build-version.ts');
  const { pino } = await import('pino');
  const log = pino({ base: null }, pino.destination(2));
  const own = context.ownPlaces();
  const readTargets = () => readCollectorFile(file, own);
  const version = buildVersion();
  readTargets(); // before a token is used
  const identity = await identify(
    { url, name, folder, version, token: () => readToken(tokenFile, own) },
    until,
  );
  const { fingerprintOf } = await import('../../accounts/collectors/collector-row.ts');
  const { publicKeyOf } = await import('../../monitor/collector/collector-key.ts');
  const fingerprint = fingerprintOf(publicKeyOf(identity.key));
  log.info({ name, url, fingerprint, version }, 'the collector runs');
  const parts = { identity, readTargets, version, concurrency, hasPulses: pulse, log };
  const waiting = { folder, largest: buffer * 1024 * 1024 };
  await new Collector({ ...parts, buffer: waiting }, until).run();
  log.info('the collector has stopped');
}

async function readToken(
  tokenFile: string | undefined,
  own: ReturnType<CommandContext['ownPlaces']>,
): Promise<string> {
  if (tokenFile === undefined)
    throw new UsageError(
      'This collector is not enrolled: make a token with "collector enrol", and give --token-file.',
    );
  const { readSecretFile } = await import('../guarded-file.ts');
  return readSecretFile(tokenFile, own).trim();
}

interface EnrolParts {
  url: string;
  name: string;
  folder: string;
  version: string;
  token: () => Promise<string>;
}

/** The identity that the folder has, or else a new one, which the service enrols. */
async function identify(
  { url, name, folder, version, token }: EnrolParts,
  until: AbortSignal,
): Promise<CollectorIdentity> {
  const { newKey, readIdentity, writeIdentity } = await import('../../monitor/collector/collector-key.ts');
  const known = readIdentity(folder);
  if (known && known.url === url && known.name === name) return known;
  if (known)
    throw new UsageError(
      `The folder ${folder} has the key of collector ${known.name} at ${known.url}: give another --folder.`,
    );
  const { enrol } = await import('../../monitor/collector/call-service.ts');
  const { key, publicKey } = newKey();
  const content = { token: await token(), name, public_key: publicKey.toString('base64'), version };
  const identity = { url, name, key, ...(await enrol(url, content, until)) };
  writeIdentity(folder, identity);
  return identity;
}
