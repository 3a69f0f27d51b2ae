import { countUp } from '../../accounts/keys/key-counts.ts';
import { selectKeys, selectRequests, selectWindows } from '../../accounts/keys/list-keys.sql.ts';
import { wholeNumber } from '../../http/query-parameters.ts';
import { notFound } from '../../platform/rejection.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ENDPOINT_GROUPS, type EndpointGroup } from '../../vocabulary/plans.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** How long a request may count entries that no background step has counted, in milliseconds. */
const COUNTING_MS = 1_000;

/** The first of the 24 hours is read from the log if it has no more entries than this. */
const READ_ENTRIES = 20_000;

/** How many entries are searched for a key's requests at a time. */
const LOOKED_THROUGH = 20_000;
const REQUESTS = 100;

const Key = Type.Object(
  {
    id: identifier('key'),
    name: Type.String(),
    note: nullable(Type.String()),
    last_four: Type.String({ description: 'the last four characters of the key' }),
    state: stringEnum('active', 'revoked', 'expired'),
    created_at: timestamp('time of creation'),
    created_by: Type.Union([
      Type.Object({
        id: identifier('member'),
        name: nullable(Type.String({ description: 'null = no longer a member' })),
      }),
      Type.Null({ description: 'made by a command or at the first start' }),
    ]),
    expires_at: nullable(timestamp('end of life; null = until it is revoked')),
    revoked_at: nullable(timestamp('end by revocation; lies ahead while a regenerated key lives on')),
    replaced_by: nullable(identifier('the key that it was regenerated as')),
    replaces: nullable(identifier('the key whose successor it is')),
    last_used_at: nullable(timestamp('time of the last request')),
    last_used_from: nullable(Type.String({ description: 'address that it came from; null = not known' })),
    requests_24h: nullable(
      count('requests since `since`, those answered 429 too; null = still being counted'),
    ),
    limited_24h: nullable(count('of those, answered 429')),
    scopes: Type.Union([Type.Array(stringEnum(...ENDPOINT_GROUPS)), Type.Null()], {
      description: 'the groups of endpoints that it reaches; null = all',
    }),
    allowed_addresses: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'the addresses and networks from which it may be used; null = any',
    }),
    version: count('give it back with a change'),
  },
  { title: 'Key' },
);
const Keys = Type.Object({
  data: Type.Array(Key, { description: 'the newest first, the dead ones too' }),
  since: timestamp('the counts begin here: 24 h ago, or up to an hour before that where the log is long'),
  as_of: timestamp('the time by the store'),
});
const KeyWindow = Type.Object({
  id: identifier('key'),
  used: count('requests in the running minute'),
  resets_at: nullable(timestamp('when it ends; null = none is running')),
  last_used_at: nullable(timestamp('time of the last request')),
});
const KeyWindows = Type.Object({
  data: Type.Array(KeyWindow, { description: 'of the keys that are accepted, the newest first' }),
  limit: count('requests a minute of each key; 0 = no access to the API'),
  as_of: timestamp('the time by the store'),
});
const KeyRequest = Type.Object({
  id: identifier('entry of the activity log'),
  occurred_at: timestamp('time of the request'),
  method: Type.String(),
  page_path: Type.String(),
  status: Type.Integer(),
  source_ip: nullable(Type.String()),
  user_agent: nullable(Type.String()),
});
const KeyRequests = Type.Object({
  data: Type.Array(KeyRequest, {
    description: 'the newest first, at most 100; there may be more though it is empty',
  }),
  next_before_id: nullable(identifier('`before_id` of what came before; null = nothing did')),
});

/** GET /keys */
export type Keys = Static<typeof Keys>;
/** GET /keys/windows: cheap, for the live gauges and the first request of a new key. */
export type KeyWindows = Static<typeof KeyWindows>;
/** GET /keys/:id/requests?before_id= */
export type KeyRequests = Static<typeof KeyRequests>;

interface KeyRow {
  id: number;
  name: string;
  note: string | null;
  last_four: string;
  state: 'active' | 'revoked' | 'expired';
  created_at: Date;
  created_by: number | null;
  created_by_name: string | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  replaced_by: number | null;
  replaces: number | null;
  last_used_at: Date | null;
  last_used_from: string | null;
  requests: number | null;
  limited: number | null;
  scopes: EndpointGroup[] | null;
  allowed_addresses: string[] | null;
  version: number;
  since: Date;
  as_of: Date;
}

const listKeys = consoleRoute({
  method: 'GET',
  path: '/keys',
  permission: 'keys:read',
  response: Keys,
  async handler({ actor: { accountId }, read, withWriter }) {
    const counted = await withWriter((writer) => countUp(writer, accountId, COUNTING_MS));
    const rows = await read((run) => run<KeyRow>(selectKeys, [accountId, READ_ENTRIES, counted]));
    const now = new Date();
    const [{ since, as_of } = { since: new Date(now.getTime() - 86_400_000), as_of: now }] = rows;
    return { data: rows.map(keyOf), since: since.toISOString(), as_of: as_of.toISOString() };
  },
});

function keyOf({
  created_by_name: name,
  requests,
  limited,
  since,
  as_of,
  ...row
}: KeyRow): Keys['data'][number] {
  return {
    ...row,
    created_by: row.created_by === null ? null : { id: row.created_by, name },
    created_at: row.created_at.toISOString(),
    expires_at: iso(row.expires_at),
    revoked_at: iso(row.revoked_at),
    last_used_at: iso(row.last_used_at),
    requests_24h: requests,
    limited_24h: limited,
  };
}

const iso = (at: Date | null) => at?.toISOString() ?? null;

const selectLimit =
  'select request_limit as limit, clock_timestamp() as as_of from account where account_id = $1';

const listWindows = consoleRoute({
  method: 'GET',
  path: '/keys/windows',
  permission: 'keys:read',
  response: KeyWindows,
  async handler({ actor: { accountId }, read }) {
    const [rows, [account]] = await read((run) =>
      Promise.all([
        run<WindowRow>(selectWindows, [accountId]),
        run<{ limit: number; as_of: Date }>(selectLimit, [accountId]),
      ]),
    );
    if (!account) throw notFound();
    const data = rows.map(({ id, used, resets_at, last_used_at }) => ({
      id,
      used,
      resets_at: iso(resets_at),
      last_used_at: iso(last_used_at),
    }));
    return { data, limit: account.limit, as_of: account.as_of.toISOString() };
  },
});

interface WindowRow {
  id: number;
  used: number;
  resets_at: Date | null;
  last_used_at: Date | null;
}

const ownKey = 'select from api_key where account_id = $1 and api_key_id = $2';

interface RequestRow {
  id: number | null;
  occurred_at: Date;
  method: string;
  page_path: string;
  status: number;
  source_ip: string | null;
  user_agent: string | null;
  from_id: number | null;
}

const listRequests = consoleRoute({
  method: 'GET',
  path: '/keys/:id/requests',
  permission: 'activity:read',
  query: Type.Object({
    before_id: wholeNumber('before_id', 'Gives the requests with a smaller id.', { minimum: 1 }),
  }),
  response: KeyRequests,
  async handler({ id, query: { before_id }, actor: { accountId }, read }) {
    const before = before_id === undefined ? null : Math.min(before_id, Number.MAX_SAFE_INTEGER);
    const rows = await read(async (run) => {
      if ((await run(ownKey, [accountId, id])).length === 0) throw notFound();
      return run<RequestRow>(selectRequests, [accountId, id, before, LOOKED_THROUGH]);
    });
    const data = rows.flatMap(({ id, occurred_at, from_id, ...row }) =>
      id === null ? [] : [{ id, occurred_at: occurred_at.toISOString(), ...row }],
    );
    const next = data.length === REQUESTS ? data.at(-1)?.id : rows[0]?.from_id;
    return { data, next_before_id: next ?? null };
  },
});

/** The routes that read API keys. */
export const keyRoutes: ConsoleRoute[] = [listKeys, listWindows, listRequests];
