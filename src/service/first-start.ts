import pg from 'pg';
import { addAccount } from '../accounts/add-account.ts';
import { addKey } from '../accounts/keys/add-key.ts';
import { revokeKey } from '../accounts/keys/revoke-key.ts';
import { addOperatorLink } from '../accounts/members/add-link.ts';
import { type ChangeAccount, changeAccount } from '../activity/record-entry.ts';
import { addConnection } from '../connections/add-connection.ts';
import type { StoredCheck } from '../monitor/store-run.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import type { OpenStore } from '../store/open.ts';
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

const NAME = 'My company';
const KEY_NAME = 'first key';

// The link is made last. A store that has only what comes before it is one whose first start ended early: nobody was shown its key.
const selectUnfinished = `
  select a.account_id,
         (select min(connection_id) from connection c where c.account_id = a.account_id and removed_at is null) as connection_id,
         array(select api_key_id from api_key k where k.account_id = a.account_id and revoked_at is null) as key_ids
    from account a
    join activity_head h on h.account_id = a.account_id and h.last_id < 1000
   where a.name = '${NAME}'
     and (select count(*) from account) = 1
     and not exists (select from login)
     and not exists (select from member)
     and not exists (select from link)
     and not exists (select from activity_floor f where f.account_id = a.account_id and f.first_id > 1)
     and not exists (select from activity e
                      where e.account_id = a.account_id and e.action_type in ('link_created', 'api_request'))
     and not exists (select from api_key k where k.account_id = a.account_id and k.name <> '${KEY_NAME}')`;

/** What a first start that ended early has left. */
interface Unfinished {
  account_id: number;
  connection_id: number | null;
  /** Nobody has seen these keys. */
  key_ids: number[];
}

/**
 * Sets up an empty store: creates the company account "My company", a connection to the store itself, an API key and a
 * sign-in link, and runs the first health check. Goes on where an earlier first start ended early, with another key. Returns null
 * if another account exists already.
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
    const [unfinished] = (await turn.query<Unfinished>(selectUnfinished)).rows;
    if (!unfinished && (await turn.query('select from account limit 1')).rowCount !== 0) return null;
    const accountId = unfinished?.account_id ?? (await addFirstAccount(writer));
    const within: ChangeAccount = (work) => changeAccount(writer, accountId, work);
    const connectionId =
      unfinished?.connection_id ??
      (await addConnection(within, secret, { name: OWN_STORE, ...ownAddress(store), every: 300 })).id;
    for (const unseen of unfinished?.key_ids ?? []) await within((change) => revokeKey(change, unseen));
    const { id: keyId, key } = await within((change) => addKey(change, { name: KEY_NAME, lifetime: null }));
    await check({ accountId, connectionId });
    const { token } = await within((change) => addOperatorLink(change, null));
    return { key, keyId, linkToken: token };
  } finally {
    await turn.query('select pg_advisory_unlock($1)', [FIRST_START]).catch(() => {});
    turn.release();
  }
}

async function addFirstAccount(writer: pg.Pool): Promise<number> {
  const { id } = await addAccount(writer, {
    name: NAME,
    kind: 'company',
    plan: 'enterprise',
    requests_per_minute: null,
  });
  return id;
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
