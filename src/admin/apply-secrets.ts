import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SecretPlace } from './apply-schema.ts';
import { UsageError } from './command.ts';

/** Where the secrets and files are that a configuration names. */
export interface Surroundings {
  environment: Readonly<Record<string, string | undefined>>;
  /** Where paths begin that are not absolute. */
  folder: string;
}

/** What stands at a place, whole. Throws a {@link UsageError} where nothing does. */
export function textAt({ env, file }: SecretPlace, surroundings: Surroundings): string {
  if (file !== undefined) return fileText(file, surroundings);
  const text = surroundings.environment[env ?? ''];
  if (text) return text;
  throw new UsageError(`The environment variable ${env} is not set: set it for this command.`);
}

/** {@link textAt} of a password or a URL: one line, whose end is not part of it. */
export function lineAt(place: SecretPlace, surroundings: Surroundings): string {
  const line = textAt(place, surroundings).replace(/\r?\n$/, '');
  if (line !== '' && line.length <= 4_096 && !/[\0\r\n]/.test(line)) return line;
  throw new UsageError('What stands there must be one line, and not an empty one.');
}

/** The text of a file. Throws a {@link UsageError}. */
export function fileText(file: string, { folder }: Surroundings): string {
  try {
    return readFileSync(resolve(folder, file), 'utf8');
  } catch {
    throw new UsageError('The file can not be read: give the path of one that can.');
  }
}
