import { resolve } from 'node:path';
import { UsageError } from '../command.ts';
import { type OwnPlaces, readPublicFile, readSecretFile } from '../guarded-file.ts';
import type { SecretPlace } from './configuration-schema.ts';

/** Where the secrets and files are that a configuration names. */
export interface Surroundings extends OwnPlaces {
  /** Where paths of files that are no secrets begin, unless they are absolute. */
  folder: string;
  /** The one folder whose files may be read as secrets; null = none. */
  secretsDir: string | null;
}

/** What stands at a place, whole. Throws a {@link UsageError} where nothing does. */
export function textAt({ env, file }: SecretPlace, surroundings: Surroundings): string {
  if (file !== undefined) return secretText(file, surroundings);
  const text = surroundings.environment[env ?? ''];
  if (text) return text;
  throw new UsageError(`The environment variable ${env} is not set: set it for this command.`);
}

/** {@link textAt} of a password or a URL: one line, whose end is not part of it. */
export function lineAt(place: SecretPlace, surroundings: Surroundings): string {
  const line = textAt(place, surroundings).replace(/\r?\n$/, '');
  if (line !== '' && line.length <= 4_096 && !/[\0\r\n]/.test(line)) return line;
  throw new UsageError('The secret must be a single line that is not empty.');
}

/** The text of a file that is no secret. Throws a {@link UsageError}. */
export function fileText(file: string, { folder, ...own }: Surroundings): string {
  return readPublicFile(resolve(folder, file), own);
}

function secretText(file: string, { secretsDir, ...own }: Surroundings): string {
  if (secretsDir !== null) return readSecretFile(resolve(secretsDir, file), own, secretsDir);
  throw new UsageError('Name the folder of the secret files: --secrets-dir or DBVITALS_SECRETS_DIR.');
}
