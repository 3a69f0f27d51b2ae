import type { Command } from 'commander';
import { type ConnectionSettings, certificatesIn } from '../connections/connection-settings.ts';
import { requireThresholds, type ThresholdChanges } from '../connections/connection-thresholds.ts';
import { countOf, oneOf } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { readPublicFile } from './guarded-file.ts';
import { thresholdsOf } from './thresholds.ts';

/** The options of {@link ConnectionSettings} as parsed by commander. */
export interface SettingOptions {
  threshold?: ThresholdChanges;
  expectedStandbys?: number;
  exposePassword?: 'yes' | 'no';
  caFile?: string;
}

export const CA_FILE = "certificates (PEM) to trust besides the system's; for MySQL, its public key too";

/** Adds the options that `connection add` and `connection change` share, except those of the address. */
export function addSettingOptions(command: Command): Command {
  return addThresholdOption(command)
    .option(
      '--expected-standbys <N>',
      'standbys that the server should have, 0 to 1000',
      countOf('--expected-standbys', 0, 1_000),
    )
    .option('--ca-file <FILE>', CA_FILE)
    .option(
      '--expose-password <yes|no>',
      'whether to send the password to a server that asks for it in clear text or as MD5',
      oneOf('--expose-password', ['yes', 'no']),
    );
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
  { threshold, expectedStandbys, exposePassword, caFile }: SettingOptions,
  { loadCatalogue, ownPlaces }: Pick<CommandContext, 'loadCatalogue' | 'ownPlaces'>,
): Promise<ConnectionSettings> {
  if (threshold) requireThresholds(threshold, (await loadCatalogue()).checks);
  return {
    ...(threshold && { thresholds: threshold }),
    ...(expectedStandbys !== undefined && { expectedStandbys }),
    ...(exposePassword && { passwordExposable: exposePassword === 'yes' }),
    ...(caFile !== undefined && { caCertificate: certificatesIn(readPublicFile(caFile, ownPlaces())) }),
  };
}
