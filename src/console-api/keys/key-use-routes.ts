import { countUp } from '../../accounts/keys/key-counts.ts';
import { selectRefusals, selectUsage } from '../../accounts/keys/key-use.sql.ts';
import { notFound } from '../../platform/rejection.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { ENDPOINT_PATHS } from '../../vocabulary/endpoint-paths.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** How long a request may count entries that no background step has counted, in milliseconds. */
const COUNTING_MS = 1_000;

/** How many of the account's last entries about refused keys are searched for one key. */
const SEARCHED = 5_000;

const KeyUsage = Type.Object({
  counted: Type.Boolean({ description: 'false = too many entries are not counted yet: ask again' }),
  today: Type.String({ description: 'the last of the 30 days, such as 2027-01-31 (UTC)' }),
  data: Type.Array(
    Type.Object({
      day: Type.String({ description: 'UTC' }),
      endpoint: nullable(Type.String({ description: 'below /api/v1; null = a path that is no endpoint' })),
      status: Type.Integer(),
      requests: count('requests of the day with this endpoint and status'),
    }),
    { description: 'by day, then endpoint, then status; only what occurred' },
  ),
});
const KeyRefusals = Type.Object({
  data: Type.Array(
    Type.Object({
      id: identifier('entry of the activity log'),
      occurred_at: timestamp('time of the entry'),
      reason: Type.String({ description: 'revoked, regenerated, expired or address_not_allowed' }),
      source_ip: nullable(Type.String({ description: 'null = several addresses' })),
      attempts: count('attempts since the last such entry'),
    }),
    { description: 'the newest first, at most 50' },
  ),
});

/** GET /keys/:id/usage */
export type KeyUsage = Static<typeof KeyUsage>;
/** GET /keys/:id/refusals */
export type KeyRefusals = Static<typeof KeyRefusals>;

const ownKey = 'select from api_key where account_id = $1 and api_key_id = $2';

interface UsageRow {
  today: string;
  /** Null in the only row of a key without requests. */
  day: string | null;
  endpoint: string;
  status: number;
  requests: number;
}

const showUsage = consoleRoute({
  method: 'GET',
  path: '/keys/:id/usage',
  permission: 'keys:read',
  response: KeyUsage,
  async handler({ id, actor: { accountId }, read, withWriter }) {
    const counted = await withWriter((writer) => countUp(writer, accountId, COUNTING_MS));
    const rows = await read(async (run) => {
      if ((await run(ownKey, [accountId, id])).length === 0) throw notFound();
      return counted ? run<UsageRow>(selectUsage, [accountId, id, ENDPOINT_PATHS]) : [];
    });
    const data = rows.flatMap(({ day, endpoint, status, requests }) =>
      day === null ? [] : [{ day, endpoint: endpoint || null, status, requests }],
    );
    return { counted, today: rows[0]?.today ?? new Date().toISOString().slice(0, 10), data };
  },
});

const listRefusals = consoleRoute({
  method: 'GET',
  path: '/keys/:id/refusals',
  permission: 'activity:read',
  response: KeyRefusals,
  async handler({ id, actor: { accountId }, read }) {
    const rows = await read(async (run) => {
      if ((await run(ownKey, [accountId, id])).length === 0) throw notFound();
      return run<Omit<KeyRefusals['data'][number], 'occurred_at'> & { occurred_at: Date }>(selectRefusals, [
        accountId,
        id,
        SEARCHED,
      ]);
    });
    return { data: rows.map((row) => ({ ...row, occurred_at: row.occurred_at.toISOString() })) };
  },
});

/** The routes that show how an API key is used, and where it was refused. */
export const keyUseRoutes: ConsoleRoute[] = [showUsage, listRefusals];
