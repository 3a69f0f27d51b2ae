import { Type } from 'typebox';
import type { Read } from '../database/read.ts';
import { endpoint } from '../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../http/paging.ts';
import { rangeParameters, readRange } from '../http/range-parameters.ts';
import { choosePlaces, entriesAmongAll, entriesAmongRequests, entriesAmongType } from './positions.sql.ts';

const ActivityEntry = Type.Object({
  id: Type.Integer({ description: "1, 2, 3 … without a gap within the account's log" }),
  action_type: Type.String({ description: 'kind of action; an open set' }),
  page_path: Type.String({ description: 'application path where the action took place' }),
  properties: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'properties of the action; which ones depends on action_type',
  }),
  occurred_at: Type.String({
    format: 'date-time',
    description: 'time of the action; never decreases as id grows',
  }),
});

const parameters = {
  action_type: Type.Optional(
    Type.String({ minLength: 1, description: 'action_type must be the name of an action type.' }),
  ),
  order: Type.Optional(Type.String({ enum: ['desc', 'asc'], description: 'order must be desc or asc.' })),
  after_id: Type.Optional(
    Type.String({
      pattern: '^(?:0|[1-9][0-9]*)$',
      description: 'after_id must be a whole number, 0 or more.',
    }),
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

/** Endpoint 6: the account's activity log. Any page of it costs the same, however long the log is. */
export const entries = endpoint({
  path: '/activity',
  summary: 'The activity log, latest first',
  query: Type.Object({ ...parameters, ...rangeParameters, ...pagingParameters }),
  response: Type.Object({ data: Type.Array(ActivityEntry), meta: Meta }),
  reuse: 'unstored',
  async answer(read, { accountId, query, url }) {
    const page = readPage(query);
    const { since, before } = readRange(query);
    const afterId =
      query.after_id === undefined ? null : Math.min(Number(query.after_id), Number.MAX_SAFE_INTEGER - 1);
    // PostgreSQL's text has no NUL, so no action type has one either.
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
