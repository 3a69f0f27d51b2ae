import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SecretKeys } from '../platform/encryption.ts';
import { ConfigError, isErrno } from './config-error.ts';
import { readTextFile } from './text-file.ts';

/**
 * The keys that encrypt the secrets in the store: those of the settings, or those of `secret.key` in the data folder, which is
 * created if it does not exist. Throws {@link ConfigError} if that file is invalid or other users can read it.
 */
export function secretKeys(config: { givenSecret: SecretKeys | null; dataDir: string }): SecretKeys {
  if (config.givenSecret) return config.givenSecret;
  const file = join(config.dataDir, 'secret.key');
  if (!existsSync(file)) {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
    makeSecret(file);
  }
  return readOwnSecret(file);
}

/**
 * Reads the file of the keys again: that of DBVITALS_SECRET_KEY_FILE, or `secret.key` in the data folder. Null = they stand in the
 * environment, which does not change. Throws a sentence, and makes no file.
 */
export function rereadSecretKeys(config: {
  givenSecret: SecretKeys | null;
  secretFile: string | null;
  dataDir: string;
}): SecretKeys | null {
  if (config.secretFile !== null) return readSecretFile(config.secretFile);
  return config.givenSecret === null ? readOwnSecret(join(config.dataDir, 'secret.key')) : null;
}

function readOwnSecret(file: string): SecretKeys {
  try {
    if (statSync(file).mode & 0o077)
      throw new ConfigError([`Other users can read ${file}: run chmod 600 on it.`]);
    return parseSecrets(file, readTextFile(file));
  } catch (error) {
    if (isErrno(error))
      throw new ConfigError([`${file} cannot be read (${error.code}): give this user read access.`]);
    throw error;
  }
}

/** Writes the file under another name, then links it. So of several starts one wins, and none reads an incomplete key. */
function makeSecret(file: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${randomBytes(32).toString('hex')}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  } finally {
    closeSync(descriptor);
    rmSync(draft);
  }
}

/** Reads the keys in the file of DBVITALS_SECRET_KEY_FILE. Throws a sentence if there are none. */
export function readSecretFile(path: string): SecretKeys {
  try {
    return parseSecrets('The file of DBVITALS_SECRET_KEY_FILE', readTextFile(path));
  } catch (error) {
    if (isErrno(error))
      throw new Error(`DBVITALS_SECRET_KEY_FILE cannot be read (${error.code}): name a readable file.`);
    throw error;
  }
}

/** Parses one key, or several separated by commas or line breaks. */
export function parseSecrets(name: string, text: string): SecretKeys {
  if (/["'`\u2018-\u201f]/.test(text)) throw new ConfigError([`${name} is in quotes: remove them.`]);
  const [first, ...others] = text
    .split(/[,\s\p{Cf}]+/u)
    .filter((word) => word !== '')
    .map((word) => {
      if (/^[0-9a-fA-F]{64}$/.test(word)) return Buffer.from(word, 'hex');
      if (/^[0-9A-Za-z+/]{43}=?$/.test(word)) return Buffer.from(word, 'base64');
      return null;
    });
  if (first && others.every((key) => key !== null)) return [first, ...others];
  throw new ConfigError([
    `${name} must be 32 bytes, written as 64 hexadecimal digits or in base64, or several such keys, comma-separated.`,
  ]);
}
