import type { Read } from '../database/read.ts';
import { type EndpointRequest, endpoint } from '../http/endpoint.ts';
import { identifier, openSet, timestamp } from '../http/fields.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../http/paging.ts';
import { oneOf, text, wholeNumber } from '../http/query-parameters.ts';
import { rangeParameters, readRange } from '../http/range-parameters.ts';
import { type Static, Type } from '../vocabulary/schema.ts';
import { ACTION_TYPES } from './action-types.ts';
import { knownNames, learnNames } from './key-names.ts';
import { type EntryKind, logPage, wholeLogPage } from './positions.sql.ts';
import { type EntryRow, type KeyNames, writeEntry } from './write-entry.ts';
import { type PageLines, readLines, writeLines } from './write-lines.ts';

/** An entry as endpoint 6 returns it. */
export const ActivityEntry = Type.Object(
  {
    id: identifier("1, 2, 3 …, without gaps in the account's log"),
    action_type: openSet(ACTION_TYPES, 'action type'),
    page_path: Type.String({ description: 'application path where the action took place' }),
    properties: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'properties of the action; they depend on action_type. health_check_completed has connection_id and score; api_request has method, status, error_code, query, request_id, api_key_id, api_key_name, source_ip and user_agent; ticket_escalated and ticket_deescalated have connection_id, ticket_id, from and to; api_key_refused means that a key was tried after its end or from an address that is not allowed; it has api_key_id, api_key_name, reason, source_ip (null = other addresses) and attempts since the last such entry',
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

const Parameters = Type.Object({ ...parameters, ...rangeParameters, ...pagingParameters });

/** The first row of a page. */
interface HeadRow {
  id: null;
  total: number;
  newest: string;
  ends_open: boolean;
  key_names: KeyNames | null;
}

/** Endpoint 6: the account's activity log. Every page costs the same, however long the log is. */
export const entries = endpoint({
  path: '/activity',
  operationId: 'listActivity',
  summary: 'The activity log, latest first',
  description:
    'Every request by a key and every change of the account. Collectors use `order=asc&after_id=41`: it returns the entries after 41, without repeating or missing one. Every page costs the same, however long the log is. Answers are never cached.',
  query: Parameters,
  response: Type.Object({ data: Type.Array(ActivityEntry), meta: Meta }),
  reuse: 'unstored',
  wholeUpTo: (query) => readRange(query).before,
  async answer(read, request) {
    const { entries, meta, link } = await readLog(read, request);
    return { body: { data: entries.map((entry) => JSON.parse(entry)), meta }, link };
  },
  async write(read, request) {
    const { entries, meta, link } = await readLog(read, request);
    return { json: `{"data":[${entries.join()}],"meta":${JSON.stringify(meta)}}`, link };
  },
});

const STATEMENTS = {
  'all asc': logPage('all', 'asc'),
  'all desc': logPage('all', 'desc'),
  'requests asc': logPage('requests', 'asc'),
  'requests desc': logPage('requests', 'desc'),
  'type asc': logPage('type', 'asc'),
  'type desc': logPage('type', 'desc'),
};

const WHOLE_LOG = { asc: wholeLogPage('asc'), desc: wholeLogPage('desc') };

/** The kind of entries of an action type, and the parameter that its statement takes. */
function kindOf(actionType: string | null): [kind: EntryKind, parameters: string[]] {
  if (actionType === null) return ['all', []];
  return actionType === 'api_request' ? ['requests', []] : ['type', [actionType]];
}

/** Reads a page of the log: its entries as JSON, the page's place, and its links. */
async function readLog(
  read: Read,
  { accountId, query, url }: EndpointRequest<typeof Parameters>,
): Promise<{ entries: string[]; meta: Static<typeof Meta>; link: string }> {
  const page = readPage(query);
  const { since, before } = readRange(query);
  const afterId = query.after_id === undefined ? null : Math.min(query.after_id, Number.MAX_SAFE_INTEGER - 1);
  // Text in PostgreSQL can't contain NUL, so no action type does.
  const actionType = query.action_type?.replaceAll('\0', '\uFFFD') ?? null;
  const [kind, more] = kindOf(actionType);
  const offset = Math.min(page.offset, Number.MAX_SAFE_INTEGER);
  const order = query.order === 'asc' ? 'asc' : 'desc';
  const statements = STATEMENTS[`${kind} ${order}`];
  const values = [accountId, since, before, afterId, offset, page.perPage, ...more];
  const isWhole = kind === 'all' && since === null && before === null;
  const [found] = isWhole
    ? await read<{ page: string }>(WHOLE_LOG[order], [accountId, afterId, offset, page.perPage])
    : await read<{ page: string }>(statements.lines, values);
  if (!found) throw new Error(`account ${accountId} has no log`);
  const lines = readLines(found.page);
  const written = await writeWithNames(read, accountId, lines, order);
  const { entries, total, newest, ends_open } = written
    ? { ...lines, entries: written }
    : writeColumns(await read(statements.columns, values));
  const pin = total > 0 && ends_open ? newest : undefined;
  return { entries, meta: pageMeta(page, total), link: pageLinks(url, page, total, pin) };
}

/** {@link writeLines}, after reading the names of keys that this process does not know. Null = read it column by column. */
async function writeWithNames(
  read: Read,
  accountId: number,
  { generation, lines }: PageLines,
  order: 'asc' | 'desc',
): Promise<string[] | null> {
  if (lines === null) return null;
  const names = knownNames(accountId, generation);
  const unknown = new Set<string>();
  const entries = writeLines(lines, order, names, unknown);
  if (entries === null || unknown.size === 0) return entries;
  await learnNames(read, accountId, names, unknown);
  return writeLines(lines, order, names, unknown);
}

function writeColumns(read: readonly (HeadRow | EntryRow)[]): HeadRow & { entries: string[] } {
  const [head, ...rows] = read;
  if (head?.id !== null) throw new Error('a page of the log has no head');
  const known = new Map<string, string>();
  const entries = (rows as EntryRow[]).map((row) => writeEntry(row, head.key_names, known));
  return { ...head, entries };
}
