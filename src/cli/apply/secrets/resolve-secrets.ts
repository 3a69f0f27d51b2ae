import { resolve } from 'node:path';
import { textInQuotes } from '../../../config/text-file.ts';
import { type OwnPlaces, readPublicFile, readSecretFile } from '../../guarded-file.ts';
import { UsageError } from '../../usage-error.ts';
import type { SecretPlace } from './secret-schema.ts';
import { maySend } from './secret-variables.ts';

/** Where to find the secrets and files that a configuration names. */
export interface Surroundings extends OwnPlaces {
  /** The base folder of relative paths to files that are not secrets. */
  folder: string;
  /** The only folder whose files may be read as secrets; null = none. */
  secretsDir: string | null;
  /** The names and prefixes of --secret-env: the only environment variables that may be read as secrets. */
  secretVariables: readonly string[];
  /** DBVITALS_ALLOW_PRIVATE_DESTINATIONS. */
  allowPrivateDestinations: boolean;
}

/** Reads a secret. Throws a {@link UsageError} if there is none. */
export function textAt({ env, file }: SecretPlace, surroundings: Surroundings): string {
  if (file !== undefined) return secretText(file, surroundings);
  const name = env ?? '';
  if (!maySend(name, surroundings.secretVariables))
    throw new UsageError(
      `The file may not use the environment variable ${name}: if it is meant for this server, allow it with --secret-env ${name}.`,
    );
  const text = surroundings.environment[name];
  if (!text) throw new UsageError(`The environment variable ${name} is not set: set it for this command.`);
  if (textInQuotes(text.trim()) !== null)
    throw new UsageError(`The environment variable ${name} is in quotes: remove them.`);
  return text;
}

/** Like {@link textAt}, for a password or a URL: a single line, without its line break. */
export function lineAt(place: SecretPlace, surroundings: Surroundings): string {
  const line = textAt(place, surroundings).replace(/\r?\n$/, '');
  if (line !== '' && line.length <= 4_096 && !/[\0\r\n]/.test(line)) return line;
  throw new UsageError('The secret must be a single line that is not empty.');
}

/** Reads a file that is not a secret. Throws a {@link UsageError}. */
export function fileText(file: string, { folder, ...own }: Surroundings): string {
  return readPublicFile(resolve(folder, file), own);
}

function secretText(file: string, { secretsDir, ...own }: Surroundings): string {
  if (secretsDir !== null) return readSecretFile(resolve(secretsDir, file), own, secretsDir);
  throw new UsageError('Name the folder of the secret files: --secrets-dir or DBVITALS_SECRETS_DIR.');
}
