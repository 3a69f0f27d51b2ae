import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { countOf, oneOf } from './arguments.ts';
import { type CommandContext, UsageError } from './command.ts';
import type { DatabaseAddress } from './connection-url.ts';
import { requireThresholds, type ThresholdChanges, thresholdsOf } from './thresholds.ts';

/** What is set of a connection beside its address; what is absent stays, or is the default of a new one. */
export interface ConnectionSettings {
  thresholds?: ThresholdChanges;
  expectedStandbys?: number;
  /** Whether the password may go out in clear text, or as MD5. */
  passwordExposable?: boolean;
  /** PEM: certificates, and public keys of a MySQL server. */
  caCertificate?: string;
}

/** The options of {@link ConnectionSettings}, as commander gives them. */
export interface SettingOptions {
  threshold?: ThresholdChanges;
  expectedStandbys?: number;
  exposePassword?: 'yes' | 'no';
  caFile?: string;
}

export const CA_FILE = "certificates (PEM) to trust beside the system's own; of MySQL its public key too";

/** Adds the options that `connection add` and `connection change` share beside those of the address. */
export function addSettingOptions(command: Command): Command {
  return addThresholdOption(command)
    .option(
      '--expected-standbys <N>',
      'standbys that the server must have, 0 to 1000',
      countOf('--expected-standbys', 0, 1_000),
    )
    .option('--ca-file <FILE>', CA_FILE, certificatesOf)
    .option(
      '--expose-password <yes|no>',
      'whether a server that asks for the password in clear text or as MD5 gets it',
      oneOf('--expose-password', ['yes', 'no']),
    );
}

/** Adds `--threshold`. */
export function addThresholdOption(command: Command): Command {
  return command.option(
    '--threshold <CHECK_ID.name=number>',
    "a check's threshold, may be repeated; without the number the default again",
    thresholdsOf,
  );
}

/** The settings that were given. Throws a {@link UsageError} when a threshold is none that a check has. */
export async function readSettings(
  { threshold, expectedStandbys, exposePassword, caFile }: SettingOptions,
  { loadCatalogue }: Pick<CommandContext, 'loadCatalogue'>,
): Promise<ConnectionSettings> {
  if (threshold) requireThresholds(threshold, (await loadCatalogue()).checks);
  return {
    ...(threshold && { thresholds: threshold }),
    ...(expectedStandbys !== undefined && { expectedStandbys }),
    ...(exposePassword && { passwordExposable: exposePassword === 'yes' }),
    ...(caFile !== undefined && { caCertificate: caFile }),
  };
}

/**
 * Throws a {@link UsageError} for settings that a database of that engine has no use for: somebody would believe that
 * they hold.
 */
export function requireSettingsOf(
  engine: DatabaseAddress['engine'],
  { thresholds = {}, expectedStandbys = 0, caCertificate = '' }: ConnectionSettings,
): void {
  const [other, name] = engine === 'postgres' ? ['MY_', 'PostgreSQL'] : ['PG_', 'MySQL or MariaDB'];
  const check = Object.keys(thresholds).find((id) => id.startsWith(other));
  if (check !== undefined)
    throw new UsageError(`${check} is no check of ${name}: leave its --threshold out.`);
  if (engine !== 'postgres' && expectedStandbys > 0)
    throw new UsageError('--expected-standbys is for PostgreSQL: leave it out.');
  if (engine === 'postgres' && caCertificate.includes(PUBLIC_KEY))
    throw new UsageError('--ca-file holds a public key, which is for MySQL: PostgreSQL needs certificates.');
}

const PUBLIC_KEY = '-----BEGIN PUBLIC KEY-----';
const PEM = /-----BEGIN (CERTIFICATE|PUBLIC KEY)-----[\s\S]+?-----END \1-----/g;
const LARGEST_FILE = 1024 * 1024;

/** Reads a file of certificates and public keys: the PEM blocks alone, each of them what it says. */
export function certificatesOf(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new UsageError('--ca-file must name a file that can be read.');
  }
  const blocks = text.length <= LARGEST_FILE ? (text.match(PEM) ?? []) : [];
  try {
    if (blocks.length === 0) throw new Error('no certificate');
    return blocks.map(rewritten).join('');
  } catch {
    throw new UsageError(
      '--ca-file must hold certificates as PEM text, which begin with -----BEGIN CERTIFICATE-----.',
    );
  }
}

function rewritten(block: string): string {
  if (!block.startsWith(PUBLIC_KEY)) return new X509Certificate(block).toString();
  return createPublicKey(block).export({ type: 'spki', format: 'pem' }).toString();
}

/** SHA-256 fingerprints of the certificates and keys in PEM text, for the log. */
export function fingerprints(pem: string): string[] {
  return (pem.match(PEM) ?? []).map((block) => {
    if (!block.startsWith(PUBLIC_KEY)) return new X509Certificate(block).fingerprint256;
    const key = createPublicKey(block).export({ type: 'spki', format: 'der' });
    return (createHash('sha256').update(key).digest('hex').toUpperCase().match(/../g) ?? []).join(':');
  });
}
