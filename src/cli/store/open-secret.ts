import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { secretKeys } from '../../config/secret-key.ts';
import { bindAtStart } from '../../connections/bind-credentials.ts';
import { isOfOtherStore, WrongSecretKey } from '../../connections/rotate-secret-key.ts';
import type { SecretKeys } from '../../platform/encryption.ts';

/** Returns the keys of DBVITALS_SECRET_KEY, after binding passwords of an earlier version to the settings of their connections. */
export async function openSecret(config: Config, store: pg.Pool, log?: Logger): Promise<SecretKeys> {
  const secret = secretKeys(config);
  const tell = (_: unknown, message: string) => process.stderr.write(`${message}\n`);
  await bindAtStart(store, secret, log ?? { info: tell, error: tell });
  return secret;
}

/** {@link openSecret} to store what it encrypts. Throws a {@link WrongSecretKey} if the store has keys and it decrypts none. */
export async function openOwnSecret(
  config: Config,
  writer: pg.Pool,
  openOwner: () => pg.Pool,
): Promise<SecretKeys> {
  const secret = await openSecret(config, writer);
  if (await isOfOtherStore(openOwner(), secret)) throw new WrongSecretKey();
  return secret;
}
