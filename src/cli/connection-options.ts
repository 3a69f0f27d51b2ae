import type { Command } from 'commander';
import { type ConnectionSettings, certificatesIn } from '../connections/connection-settings.ts';
import { requireThresholds, type ThresholdChanges } from '../connections/connection-thresholds.ts';
import {
  OTHER_AUTHORITIES,
  SHIPPED_AUTHORITIES,
  type ShippedAuthority,
} from '../vocabulary/hosted/authorities.ts';
import { countOf, oneOf, parseBackupExpected, parsePulse, textOf } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { readPublicFile } from './guarded-file.ts';
import { thresholdsOf } from './thresholds/thresholds.ts';
import { UsageError } from './usage-error.ts';

/** The options of {@link ConnectionSettings} as parsed by commander. */
export interface SettingOptions {
  threshold?: ThresholdChanges;
  expectedStandbys?: number;
  queryTexts?: 'yes' | 'no';
  pulse?: number;
  backupExpected?: number;
  exposePassword?: 'yes' | 'no';
  caFile?: string;
  ca?: string;
  tokenSource?: string;
}

export const CA_NAME = 'trust the certificates that dbvitals ships for a provider: aws-rds';

/** Parser of `--ca`. Of a provider whose certificates are not shipped, the error says where to get them. */
export function authorityOf(text: string): ShippedAuthority {
  const advice = Object.hasOwn(OTHER_AUTHORITIES, text) ? OTHER_AUTHORITIES[text] : undefined;
  if (advice !== undefined) throw new UsageError(advice);
  return oneOf('--ca', SHIPPED_AUTHORITIES)(text);
}

function requireTokenSource(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  throw new UsageError(
    known.length === 0
      ? `There is no token source ${name}: set DBVITALS_TOKEN_COMMANDS_FILE to a file that describes it.`
      : `There is no token source ${name} in DBVITALS_TOKEN_COMMANDS_FILE. It has ${known.join(', ')}.`,
  );
}

export const CA_FILE = "certificates (PEM) to trust besides the system's; for MySQL, its public key too";

export const EXPOSE_PASSWORD =
  'whether to send the password to a server that asks for it in clear text or as MD5';

/** Adds the options that `connection add` and `connection change` share, except those of the address. */
export function addSettingOptions(command: Command): Command {
  return addThresholdOption(command)
    .option(
      '--expected-standbys <N>',
      'standbys that the server should have, 0 to 1000',
      countOf('--expected-standbys', 0, 1_000),
    )
    .option(
      '--pulse <TIME|off>',
      'how often to look at sessions and locks between two health checks: 1s to 60s, or off',
      parsePulse,
    )
    .option(
      '--backup-expected <TIME|off>',
      'within which time a backup has to succeed, such as 26h for a nightly one: 1h to 365d, or off',
      parseBackupExpected,
    )
    .option(
      '--query-texts <yes|no>',
      'whether to store the texts of queries, without their constants, for members who may change connections',
      oneOf('--query-texts', ['yes', 'no']),
    )
    .option('--ca-file <FILE>', CA_FILE)
    .option('--ca <NAME>', CA_NAME, authorityOf)
    .option(
      '--token-source <NAME>',
      'log in by a token that this command of DBVITALS_TOKEN_COMMANDS_FILE prints; none = by password',
      textOf('--token-source'),
    )
    .option('--expose-password <yes|no>', EXPOSE_PASSWORD, oneOf('--expose-password', ['yes', 'no']));
}

/** Adds `--threshold`. */
export function addThresholdOption(command: Command): Command {
  return command.option(
    '--threshold <CHECK_ID.name=number>',
    "a check's threshold, may be repeated; leave out the number to restore the default",
    thresholdsOf,
  );
}

/** The settings given as options. Throws a `ConnectionRejected` for an unknown threshold. */
export async function readSettings(
  options: SettingOptions,
  {
    loadCatalogue,
    ownPlaces,
    tokenSources,
  }: Pick<CommandContext, 'loadCatalogue' | 'ownPlaces' | 'tokenSources'>,
): Promise<ConnectionSettings> {
  const { threshold, expectedStandbys, queryTexts, pulse, backupExpected, exposePassword } = options;
  const { caFile, ca, tokenSource } = options;
  if (ca !== undefined && caFile !== undefined) throw new UsageError('Give --ca or --ca-file, not both.');
  if (tokenSource !== undefined && tokenSource !== 'none') requireTokenSource(tokenSource, tokenSources());
  if (threshold) requireThresholds(threshold, (await loadCatalogue()).checks);
  return {
    ...(threshold && { thresholds: threshold }),
    ...(expectedStandbys !== undefined && { expectedStandbys }),
    ...(pulse !== undefined && { pulseSeconds: pulse }),
    ...(backupExpected !== undefined && { backupExpectedSeconds: backupExpected }),
    ...(queryTexts && { queryTexts: queryTexts === 'yes' }),
    ...(exposePassword && { passwordExposable: exposePassword === 'yes' }),
    ...(ca !== undefined && { caCertificate: ca }),
    ...(tokenSource !== undefined && { tokenSource: tokenSource === 'none' ? null : tokenSource }),
    ...(caFile !== undefined && { caCertificate: certificatesIn(readPublicFile(caFile, ownPlaces())) }),
  };
}
