import { resolve } from 'node:path';
import { UsageError } from '../command.ts';
import { type OwnPlaces, readPublicFile, readSecretFile } from '../guarded-file.ts';
import type { SecretPlace } from './configuration-schema.ts';

/** Where to find the secrets and files that a configuration names. */
export interface Surroundings extends OwnPlaces {
  /** The base folder of relative paths to files that are not secrets. */
  folder: string;
  /** The only folder whose files may be read as secrets; null = none. */
  secretsDir: string | null;
  /** DBVITALS_ALLOW_PRIVATE_DESTINATIONS. */
  allowPrivateDestinations: boolean;
}

/** Reads a secret. Throws a {@link UsageError} if there is none. */
export function textAt({ env, file }: SecretPlace, surroundings: Surroundings): string {
  if (file !== undefined) return secretText(file, surroundings);
  const text = surroundings.environment[env ?? ''];
  if (text) return text;
  throw new UsageError(`The environment variable ${env} is not set: set it for this command.`);
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
