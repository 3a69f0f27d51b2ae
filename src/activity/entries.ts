import { Type } from 'typebox';
import type { Read } from '../database/read.ts';
import { endpoint } from '../http/endpoint.ts';
import { identifier, openSet, timestamp } from '../http/fields.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../http/paging.ts';
import { oneOf, text, wholeNumber } from '../http/query-parameters.ts';
import { rangeParameters, readRange } from '../http/range-parameters.ts';
import { ACTION_TYPES } from './action-types.ts';
import { choosePlaces, entriesAmongAll, entriesAmongRequests, entriesAmongType } from './positions.sql.ts';

const ActivityEntry = Type.Object(
  {
    id: identifier("1, 2, 3 …, without gaps in the account's log"),
    action_type: openSet(ACTION_TYPES, 'action type'),
    page_path: Type.String({ description: 'application path where the action took place' }),
    properties: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'properties of the action; they depend on action_type. health_check_completed has connection_id and score; api_request has method, status, error_code, query, request_id, api_key_id, api_key_name, source_ip and user_agent; ticket_escalated and ticket_deescalated have connection_id, ticket_id, from and to; api_key_refused means that a revoked or expired key was tried; it has api_key_id, api_key_name, reason, source_ip (null = other addresses) and attempts since the last such entry',
    }),
    occurred_at: timestamp('time of the action; never decreases as id grows'),
  },
  { title: 'ActivityEntry', description: "an entry of the account's activity log" },
);

const parameters = {
  action_type: text(
    'action_type',
    'Restricts to one action type. An unknown type returns an empty list.',
    'must be the name of an action type.',
    { minLength: 1 },
    { minLength: 1 },
  ),
  order: oneOf(
    'order',
    'Order by `id`: latest first, or oldest first. Collectors use `order=asc` with `after_id`.',
    ['desc', 'asc'],
    'desc',
  ),
  after_id: wholeNumber(
    'after_id',
    'Returns only entries with a greater id. After the last entry the list is empty.',
    { minimum: 0 },
  ),
};

interface EntryRow {
  id: number;
  action_type: string;
  page_path: string;
  occurred_at: Date;
  properties: Record<string, unknown> | null;
  request_id: string | null;
  api_key_id: number | null;
  api_key_name: string | null;
  status: number | null;
  method: string | null;
  error_code: string | null;
  query: Record<string, string> | null;
  source_ip: string | null;
  user_agent: string | null;
}

/** Endpoint 6: the account's activity log. Every page costs the same, however long the log is. */
export const entries = endpoint({
  path: '/activity',
  operationId: 'listActivity',
  summary: 'The activity log, latest first',
  description:
    'Every request by a key and every change of the account. Collectors use `order=asc&after_id=41`: it returns the entries after 41, without repeating or missing one. Every page costs the same, however long the log is. Answers are never cached.',
  query: Type.Object({ ...parameters, ...rangeParameters, ...pagingParameters }),
  response: Type.Object({ data: Type.Array(ActivityEntry), meta: Meta }),
  reuse: 'unstored',
  wholeUpTo: (query) => readRange(query).before,
  async answer(read, { accountId, query, url }) {
    const page = readPage(query);
    const { since, before } = readRange(query);
    const afterId =
      query.after_id === undefined ? null : Math.min(query.after_id, Number.MAX_SAFE_INTEGER - 1);
    // Text in PostgreSQL can't contain NUL, so no action type does.
    const actionType = query.action_type?.replaceAll('\0', '\uFFFD') ?? null;
    const [places] = await read<{ below: number; upto: number; newest: string; ends_open: boolean }>(
      choosePlaces,
      [accountId, since, before, afterId, actionType],
    );
    if (!places) throw new Error(`account ${accountId} has no log`);
    const total = places.upto - places.below;
    const data: ReturnType<typeof shape>[] = [];
    if (page.offset < total) {
      const count = Math.min(page.perPage, total - page.offset);
      const first =
        query.order === 'asc' ? places.below + page.offset + 1 : places.upto - page.offset - count + 1;
      const rows = await readEntries(read, accountId, actionType, first, first + count - 1);
      if (query.order !== 'asc') rows.reverse();
      data.push(...rows.map(shape));
    }
    const pin = total > 0 && places.ends_open ? places.newest : undefined;
    return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total, pin) };
  },
});

function readEntries(read: Read, accountId: number, actionType: string | null, first: number, last: number) {
  const range = [accountId, first, last];
  if (actionType === null) return read<EntryRow>(entriesAmongAll, range);
  if (actionType === 'api_request') return read<EntryRow>(entriesAmongRequests, range);
  return read<EntryRow>(entriesAmongType, [...range, actionType]);
}

function shape(row: EntryRow) {
  const { method, status, error_code, query, request_id, api_key_id, api_key_name, source_ip, user_agent } =
    row;
  return {
    id: row.id,
    action_type: row.action_type,
    page_path: row.page_path,
    properties: row.properties ?? {
      ...{ method, status, error_code, query: query ?? {}, request_id },
      ...{ api_key_id, api_key_name, source_ip, user_agent },
    },
    occurred_at: row.occurred_at.toISOString(),
  };
}
