import pg from 'pg';
import { addAccount } from '../accounts/add-account.ts';
import { changeAccount } from '../activity/record-entry.ts';
import { addConnection } from '../connections/add-connection.ts';
import type { SecretKeys } from '../database/encryption.ts';
import type { OpenStore } from '../database/open.ts';
import { addKey } from '../keys/add-key.ts';
import { addOperatorLink } from '../members/add-link.ts';
import type { StoredCheck } from '../monitor/run.ts';
import { OWN_STORE } from '../vocabulary/hosted/embedded-store.ts';

// An arbitrary number: the lock lets only one of several services set up an empty store.
const FIRST_START = 5_803;

/** What the first start created. The key and the link are shown only this once. */
export interface FirstStart {
  key: string;
  keyId: number;
  /** The token of the link that signs in the first owner. */
  linkToken: string;
}

/**
 * Sets up an empty store: creates the company account "My company", a connection to the store itself, an API key and a
 * sign-in link, and runs the first health check. Returns null if an account exists already.
 */
export async function firstStart(
  store: OpenStore,
  writer: pg.Pool,
  secret: SecretKeys,
  check: (connection: { accountId: number; connectionId: number }) => Promise<StoredCheck | null>,
): Promise<FirstStart | null> {
  const turn = await writer.connect();
  try {
    await turn.query('select pg_advisory_lock($1)', [FIRST_START]);
    const { rowCount } = await turn.query('select from account limit 1');
    if (rowCount !== 0) return null;
    const account = await addAccount(writer, {
      name: 'My company',
      kind: 'company',
      plan: 'enterprise',
      requests_per_minute: null,
    });
    const connection = await addConnection((work) => changeAccount(writer, account.id, work), secret, {
      name: OWN_STORE,
      ...ownAddress(store),
      every: 300,
    });
    const { id: keyId, key } = await changeAccount(writer, account.id, (change) =>
      addKey(change, { name: 'first key', lifetime: null }),
    );
    await check({ accountId: account.id, connectionId: connection.id });
    const { token } = await changeAccount(writer, account.id, (change) => addOperatorLink(change, null));
    return { key, keyId, linkToken: token };
  } finally {
    await turn.query('select pg_advisory_unlock($1)', [FIRST_START]).catch(() => {});
    turn.release();
  }
}

/** The connection that watches the store: with the monitoring role of an embedded store, else with DATABASE_URL. */
function ownAddress(store: OpenStore): Omit<Parameters<typeof addConnection>[2], 'name' | 'every'> {
  const {
    host,
    port,
    database = '',
    user = '',
    password,
    ssl,
  } = new pg.Client(store.embedded?.monitor ?? store.address[0]);
  const socket = host.startsWith('/');
  // The driver's types say boolean, but an sslmode in the URL makes it an object.
  const tls: unknown = ssl;
  const trusting =
    typeof tls === 'object' && tls !== null && 'rejectUnauthorized' in tls && !tls.rejectUnauthorized;
  return {
    engine: 'postgres',
    connection_type: socket ? 'unix_socket' : 'direct',
    host,
    port,
    database,
    username: user,
    password: typeof password === 'string' ? password : null,
    tls: socket || !ssl ? 'disable' : trusting ? 'require' : 'verify-full',
  };
}
