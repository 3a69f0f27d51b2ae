import type pg from 'pg';
import { decrypt, encrypt, type SecretKeys } from '../platform/encryption.ts';
import { accountKey, LostAccountKey, makeAccountKey } from '../store/account-key.ts';
import { CollectedConnection, isCollected } from './collected-connection.ts';

/** The columns of a connection that determine where and how its secrets are sent. */
export interface Destination {
  account_id: number;
  connection_id: number;
  engine: string;
  connection_type: string;
  host: string;
  port: number;
  database: string;
  username: string;
  tls: string;
  password_exposable: boolean;
  ca_certificate: string | null;
  ssh_host: string | null;
  ssh_port: number | null;
  ssh_username: string | null;
  ssh_host_key: string | null;
  /** The name of the operator's command that prints the password; null = the password is stored. */
  token_source: string | null;
}

/** SQL: the columns of a {@link Destination} from `connection c`. */
export const destinationColumns = `
         c.account_id, c.connection_id, c.engine, c.connection_type, c.host, c.port, c.database, c.username, c.tls,
         c.password_exposable, c.ca_certificate, c.ssh_host, c.ssh_port, c.ssh_username, c.ssh_host_key, c.token_source`;

/** The secrets of a connection. */
export interface Secrets {
  /** Null = none. */
  password: string | null;
  /** The private key for the SSH server; null = none. */
  sshKey: string | null;
}

/** Encrypted {@link Secrets}, as stored. */
export interface EncryptedSecrets {
  credential: Buffer | null;
  ssh_credential: Buffer | null;
}

/**
 * Encrypts a connection's secrets with AES-256-GCM and the account's own key. That key is created on first use and stored
 * encrypted with `secret` (the keys of DBVITALS_SECRET_KEY). Only exactly these settings of this connection decrypt them.
 * Call it in the transaction that stores the result.
 */
export async function encryptSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  destination: Destination,
  { password, sshKey }: Secrets,
): Promise<EncryptedSecrets> {
  const key = await keyOf(destination, () => makeAccountKey(client, secret, destination.account_id));
  return encryptBy(key, destination, { password, sshKey });
}

/** {@link encryptSecrets} with a given key. */
export function encryptBy(
  key: Buffer,
  destination: Destination,
  { password, sshKey }: Secrets,
): EncryptedSecrets {
  const withKey = sshKey !== null;
  const encryptText = (of: SecretKind, text: string) =>
    encrypt([key], binding(of, destination, withKey), Buffer.from(text));
  return {
    credential: encryptText('password', password ?? ''),
    ssh_credential: withKey ? encryptText('ssh key', sshKey) : null,
  };
}

/**
 * Decrypts a connection's secrets. Throws {@link TamperedConnection} when they were stored with other settings, and
 * {@link CredentialError} when they were encrypted with another DBVITALS_SECRET_KEY.
 */
export async function decryptSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  destination: Destination,
  { credential, ssh_credential }: EncryptedSecrets,
): Promise<Secrets> {
  const key = await keyOf(destination, () => accountKey(client, secret, destination.account_id));
  const withKey = ssh_credential !== null;
  if (!credential) throw new TamperedConnection(destination, 'missing');
  const decryptText = (of: SecretKind, bytes: Buffer) => {
    const text = key && decrypt([key], binding(of, destination, withKey), bytes);
    if (!text) throw new TamperedConnection(destination, 'changed');
    return text.toString();
  };
  return {
    password: decryptText('password', credential) || null,
    sshKey: withKey ? decryptText('ssh key', ssh_credential) : null,
  };
}

/** The secret key does not decrypt an account's key. The message says how to fix it. */
export class CredentialError extends Error {
  constructor({ connection_id }: Pick<Destination, 'connection_id'>) {
    super(
      `The stored password of connection ${connection_id} can't be decrypted: set DBVITALS_SECRET_KEY to the key that it was stored with, or store the password again as docs/secrets.md says.`,
    );
  }
}

/** A connection's secrets were not stored with its current settings. The message says how to fix it. */
export class TamperedConnection extends Error {
  /** The problem without the remedy. */
  readonly reason: string;

  constructor({ connection_id }: Pick<Destination, 'connection_id'>, how: keyof typeof TAMPERED) {
    super(
      `Connection ${connection_id}: ${TAMPERED[how]}. Check its settings, then enter its address and password again.`,
    );
    this.reason = TAMPERED[how];
  }
}

const TAMPERED = {
  changed: 'its stored settings were changed outside dbvitals',
  missing: 'its stored password was removed outside dbvitals, or forgotten with a lost secret key',
};

/** The account's key. Throws {@link CredentialError}, which names the connection, if it is lost. */
async function keyOf<Key>(of: Pick<Destination, 'connection_id'>, read: () => Promise<Key>): Promise<Key> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof LostAccountKey ? new CredentialError(of) : error;
  }
}

type SecretKind = 'password' | 'ssh key';

// A JSON array, so that different destinations never have the same text. Only a login by token has the last element:
// credentials from before there were such logins still decrypt.
function binding(of: SecretKind, destination: Destination, withSshKey: boolean): string {
  const { account_id, connection_id, engine, connection_type, host, port, database, username } = destination;
  const {
    tls,
    password_exposable,
    ca_certificate,
    ssh_host,
    ssh_port,
    ssh_username,
    ssh_host_key,
    token_source,
  } = destination;
  return JSON.stringify([
    'dbvitals credential',
    of,
    account_id,
    connection_id,
    engine,
    connection_type,
    host,
    port,
    database,
    username,
    tls,
    password_exposable,
    ca_certificate,
    ssh_host,
    ssh_port,
    ssh_username,
    ssh_host_key,
    withSshKey,
    ...(token_source === null ? [] : [token_source]),
  ]);
}

/** The primary key of a connection. */
interface ConnectionKey {
  accountId: number;
  connectionId: number;
}

const select = `
  select ${destinationColumns}, c.credential, c.ssh_credential, ${isCollected} as "isCollected"
    from connection c
   where c.account_id = $1 and c.connection_id = $2`;

const update = `
  update connection set credential = $3, ssh_credential = $4
   where account_id = $1 and connection_id = $2`;

/** A connection's secrets; null when the connection does not exist. Throws as `decryptSecrets` does, and {@link CollectedConnection}. */
export async function readSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  key: ConnectionKey,
): Promise<Secrets | null> {
  const row = await rowOf(client, key);
  if (row?.isCollected) throw new CollectedConnection(key.connectionId);
  return row ? decryptSecrets(client, secret, row, row) : null;
}

/** {@link readSecrets}, but null when the secrets were not stored with the connection's current settings. */
export async function trustedSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  key: ConnectionKey,
): Promise<Secrets | null> {
  try {
    return await readSecrets(client, secret, key);
  } catch (error) {
    if (error instanceof TamperedConnection) return null;
    throw error;
  }
}

/**
 * Encrypts a connection's secrets for its current settings and stores them. Call it in the transaction that changed the
 * settings. Without a tunnel, the SSH key is deleted.
 */
export async function storeSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  key: ConnectionKey,
  { password, sshKey }: Secrets,
): Promise<void> {
  const row = await rowOf(client, key);
  if (!row) return;
  const kept = { password, sshKey: row.connection_type === 'ssh_tunnel' ? sshKey : null };
  const { credential, ssh_credential } = await encryptSecrets(client, secret, row, kept);
  await client.query(update, [key.accountId, key.connectionId, credential, ssh_credential]);
}

interface SecretsRow extends Destination, EncryptedSecrets {
  isCollected: boolean;
}

async function rowOf(
  client: pg.ClientBase | pg.Pool,
  { accountId, connectionId }: ConnectionKey,
): Promise<SecretsRow | undefined> {
  return (await client.query<SecretsRow>(select, [accountId, connectionId])).rows[0];
}
