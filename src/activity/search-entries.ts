import type { Read } from '../store/read.ts';
import { ENTRY } from './positions.sql.ts';
import { type EntryRow, writeEntry } from './write-entry.ts';

/** Which entries to find; null = any. */
export interface EntryFilter {
  /** The time range, in PostgreSQL's format: from `since` up to, but excluding, `before`. */
  since: string | null;
  before: string | null;
  actionType: string | null;
  /** The member who did it, or signs in. */
  memberId: number | null;
  /** The API key that sent the request, or that the entry is about. */
  apiKeyId: number | null;
  /** The lowest and the highest status of a request. */
  status: readonly [from: number, to: number] | null;
  /** The client's address, or a network such as 192.0.2.0/24. */
  address: string | null;
  /** The property that names the object, and the object's id. */
  object: readonly [property: string, id: number] | null;
}

/** Where a search goes on, and in which order; both limits are exclusive. */
export interface SearchFrom {
  order: 'asc' | 'desc';
  afterId: number;
  beforeId: number;
  limit: number;
}

/** The entries that were found, as JSON, and how far the search came. */
export interface FoundEntries {
  entries: string[];
  /** The limit for the next search, `beforeId` or `afterId` by its order; null = everything was searched. */
  next: number | null;
  /** The time of the last entry that was looked at; null = everything was searched. */
  searchedTo: string | null;
}

const selectBounds = `
  select greatest(coalesce((select first_id from activity_floor where account_id = $1), 1),
                  case when $2::timestamptz is null then 1 else activity_id_at($1, $2) end) as first_id,
         case when $3::timestamptz is null then h.last_id else activity_id_at($1, $3) - 1 end as last_id
    from activity_head h
   where h.account_id = $1`;

const selectTime = 'select occurred_at from activity where account_id = $1 and id = $2';

/**
 * The entries that a search walks over. API requests are only in the primary key (docs/decisions/0001); the partial indexes
 * have the others, which are few in most logs.
 */
const WALKS = {
  all: '',
  requests: 'and e.event_number is null',
  events: 'and e.event_number is not null',
  type: 'and e.event_number is not null and e.action_type = $12',
} as const;

type Walk = keyof typeof WALKS;

// Only a text that is certainly an address is cast: some proxies pass on what a client claims to be.
const SOURCE = `(e.properties ->> 'source_ip')`;
const BYTE = '([0-9]{1,2}|1[0-9]{2}|2[0-4][0-9]|25[0-5])';
const GROUPS = '[0-9a-f]{1,4}(:[0-9a-f]{1,4})*';
const IS_ADDRESS = `(
            ${SOURCE} ~ '^${BYTE}([.]${BYTE}){3}$'
            or ${SOURCE} ~* '^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$'
            or ${SOURCE} ~* '^(${GROUPS})?::(${GROUPS})?$'
               and length(${SOURCE}) - length(replace(${SOURCE}, ':', '')) <= 7)`;

function searchStatement(walk: Walk, order: 'asc' | 'desc'): string {
  return `
  select ${ENTRY},
         (select k.name from api_key k where k.account_id = $1 and k.api_key_id = e.api_key_id) as key_name
    from activity e
   where e.account_id = $1 and e.id between $2 and $3
     ${WALKS[walk]}
     and ($4::text is null or e.properties ->> 'actor_member_id' = $4
          or e.page_path = '/sign-in' and e.properties ->> 'member_id' = $4)
     and ($5::bigint is null or e.api_key_id = $5 or e.properties ->> 'api_key_id' = $5::text)
     and ($6::smallint is null or e.status between $6 and $7::smallint)
     and ($8::inet is null or e.source_ip <<= $8 or case when ${IS_ADDRESS} then ${SOURCE}::inet <<= $8 end)
     and ($9::text is null or e.properties ->> $9 = $10::text)
   order by e.id ${order}
   limit $11`;
}

/** Ids that the first step looks at. Steps double while they are quick: a filter that matches little walks on faster. */
const FIRST_STEP = 20_000;
const QUICK_MS = 40;
/** After this time a search returns what it has. A step that is not quick may exceed it once. */
const BUDGET_MS = 150;

/**
 * Searches the log, from a limit on, until `limit` entries are found or a short time has passed. No index serves these filters,
 * because every request would have to write it: the search walks over the log in bounded steps and says how far it came.
 */
export async function searchEntries(
  read: Read,
  accountId: number,
  filter: EntryFilter,
  { order, afterId, beforeId, limit }: SearchFrom,
): Promise<FoundEntries> {
  const [bounds] = await read<{ first_id: number; last_id: number }>(selectBounds, [
    accountId,
    filter.since,
    filter.before,
  ]);
  if (!bounds) throw new Error(`account ${accountId} has no log`);
  const walk = walkOf(filter);
  const statement = searchStatement(walk, order);
  let low = Math.max(bounds.first_id, afterId + 1);
  let high = Math.min(bounds.last_id, beforeId - 1);
  const entries: string[] = [];
  const known = new Map<string, string>();
  const began = performance.now();
  let last: number | null = null;
  for (let step = FIRST_STEP; low <= high; ) {
    const started = performance.now();
    const [from, to] =
      order === 'desc' ? [Math.max(low, high - step + 1), high] : [low, Math.min(high, low + step - 1)];
    const rows = await read<EntryRow & { key_name: string | null }>(statement, [
      accountId,
      from,
      to,
      ...valuesOf(filter),
      limit - entries.length,
      ...(walk === 'type' ? [filter.actionType] : []),
    ]);
    for (const { key_name, ...row } of rows)
      entries.push(writeEntry(row, key_name === null ? null : { [String(row.api_key_id)]: key_name }, known));
    const isFull = entries.length >= limit;
    last = isFull ? (rows.at(-1)?.id ?? null) : order === 'desc' ? from : to;
    if (last === null) break;
    if (order === 'desc') high = last - 1;
    else low = last + 1;
    const now = performance.now();
    if (isFull || now - began > BUDGET_MS) break;
    if (now - started < QUICK_MS) step *= 2;
  }
  if (last === null || low > high) return { entries, next: null, searchedTo: null };
  const [at] = await read<{ occurred_at: Date }>(selectTime, [accountId, last]);
  return { entries, next: last, searchedTo: at?.occurred_at.toISOString() ?? null };
}

function walkOf({ actionType, memberId, object, status }: EntryFilter): Walk {
  if (actionType !== null && actionType !== 'api_request') return 'type';
  if (actionType !== null || status !== null) return 'requests';
  return memberId !== null || object !== null ? 'events' : 'all';
}

function valuesOf({ memberId, apiKeyId, status, address, object }: EntryFilter): unknown[] {
  const [lowest, highest] = status ?? [null, null];
  const [property, id] = object ?? [null, null];
  return [memberId, apiKeyId, lowest, highest, address, property, id];
}
