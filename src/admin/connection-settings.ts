import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { countOf, oneOf } from './arguments.ts';
import { type CommandContext, UsageError } from './command.ts';
import { requireThresholds, type ThresholdChanges, thresholdsOf } from './thresholds.ts';

/** What is set of a connection beside its address; what is absent stays, or is the default of a new one. */
export interface ConnectionSettings {
  thresholds?: ThresholdChanges;
  expectedStandbys?: number;
  /** Whether the password may go out in clear text or as MD5. */
  passwordExposable?: boolean;
  /** PEM: one certificate or more. */
  caCertificate?: string;
}

/** The options of {@link ConnectionSettings}, as commander gives them. */
export interface SettingOptions {
  threshold?: ThresholdChanges;
  expectedStandbys?: number;
  exposePassword?: 'yes' | 'no';
  caFile?: string;
}

/** Adds the options that `connection add` and `connection change` share beside those of the address. */
export function addSettingOptions(command: Command): Command {
  return addThresholdOption(command)
    .option(
      '--expected-standbys <N>',
      'standbys that the server must have, 0 to 1000',
      countOf('--expected-standbys', 0, 1_000),
    )
    .option('--ca-file <FILE>', "certificates (PEM) to trust beside the system's own", certificatesOf)
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

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const LARGEST_FILE = 1024 * 1024;

/** Reads a file of certificates: the PEM blocks alone, each of them a certificate. */
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
    return blocks.map((block) => new X509Certificate(block).toString()).join('');
  } catch {
    throw new UsageError(
      '--ca-file must hold certificates as PEM text, which begin with -----BEGIN CERTIFICATE-----.',
    );
  }
}

/** SHA-256 fingerprints of the certificates in PEM text, for the log. */
export function fingerprints(pem: string): string[] {
  return (pem.match(PEM) ?? []).map((block) => new X509Certificate(block).fingerprint256);
}
