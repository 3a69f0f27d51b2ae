import { ACTION_TYPES } from '../../activity/catalogue/catalogue.ts';
import { type ChosenPage, readChosenEntries, type TypeChoice } from '../../activity/chosen-entries.ts';
import { entryActor } from '../../activity/entry-actor.ts';
import { knownNames, learnNames } from '../../activity/key-names.ts';
import { type EntryKind, logPage, wholeLogPage } from '../../activity/positions.sql.ts';
import { type PageLines, readLines, writeLines } from '../../activity/write-lines.ts';
import { type WrittenPage, writeRows } from '../../activity/write-rows.ts';
import { type EndpointRequest, writtenEndpoint } from '../../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../../http/paging.ts';
import { oneOf, repeatedText, someOf, text, wholeNumber } from '../../http/query-parameters.ts';
import { rangeParameters, readRange } from '../../http/range-parameters.ts';
import { identifier, openSet, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import type { Read } from '../../store/read.ts';
import { writeList } from './write-records.ts';

const Party = (description: string) =>
  Type.Object(
    {
      type: Type.String({ description: 'an open set' }),
      id: nullable(identifier('null if it has none')),
      name: nullable(Type.String({ description: 'null if the entry does not name it' })),
    },
    { description },
  );

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
        'properties of the action; they depend on action_type, and docs/reference/activity.md lists them. health_check_completed has connection_id and score; api_request has method, status, error_code, query, request_id, api_key_id, api_key_name, source_ip and user_agent; ticket_escalated and ticket_deescalated have connection_id, ticket_id, from and to; api_key_refused means that a key was tried after its end or from an address that is not allowed; it has api_key_id, api_key_name, reason, source_ip (null = other addresses) and attempts since the last such entry',
    }),
    occurred_at: timestamp('time of the action; never decreases as id grows'),
    actor: Type.Optional(
      Party('member, api_key, command_line, service or unknown, who did it; with `include=actor`'),
    ),
    target: Type.Optional(
      Type.Union([Party('what it was done to; with `include=actor`'), Type.Null()], {
        description: 'null for the account itself, and for API requests; with `include=actor`',
      }),
    ),
    outcome: Type.Optional(openSet(['success', 'failure'], 'whether it succeeded; with `include=actor`')),
    source: Type.Optional(
      Type.Object(
        {
          ip: nullable(Type.String({ description: 'address of the client; null if it is unknown' })),
          user_agent: nullable(Type.String({ description: 'of an API request; else null' })),
          session: nullable(identifier('session of the member; null if there is none')),
        },
        { description: 'where it came from; with `include=actor`' },
      ),
    ),
  },
  { title: 'ActivityEntry', description: "an entry of the account's activity log" },
);

const MOST_TYPES = 100;

const parameters = {
  // Clients of the first version give one: the document still has a text, and each of several is one.
  action_type: repeatedText(
    'action_type',
    'Restricts to one action type; repeat it for several. An unknown type returns an empty list.',
    `must be the name of an action type, at most ${MOST_TYPES} times.`,
    { most: MOST_TYPES, check: { minLength: 1 }, told: { type: 'string', minLength: 1 } },
  ),
  exclude_action_type: repeatedText(
    'exclude_action_type',
    'Leaves out an action type, such as `api_request`; repeat it for several.',
    `must be the name of an action type, at most ${MOST_TYPES} times.`,
    { most: MOST_TYPES, check: { minLength: 1 } },
  ),
  include: someOf('include', 'Adds `actor`, `target`, `outcome` and `source` to each entry.', ['actor']),
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

type Query = Static<typeof Parameters>;

/** One action type, as the console filters by it. */
export const actionTypeParameter = text(
  'action_type',
  'Restricts to one action type. An unknown type returns an empty list.',
  'must be the name of an action type.',
  { minLength: 1 },
  { minLength: 1 },
);

/** Endpoint 6: the account's activity log. Every page costs the same, however long the log is. */
export const entries = writtenEndpoint({
  path: '/activity',
  operationId: 'listActivity',
  summary: 'The activity log, latest first',
  description:
    'Every request by a key and every change of the account. Collectors use `order=asc&after_id=41`: it returns the entries after 41, without repeating or missing one. A collector leaves its own requests out with `exclude_action_type=api_request`. Every page costs the same, however long the log is. Answers are never cached.',
  query: Parameters,
  response: Type.Object({ data: Type.Array(ActivityEntry), meta: Meta }),
  reuse: 'unstored',
  wholeUpTo: (query) => readRange(query).before,
  async write(read, request) {
    const { entries, meta, link } = await readLog(read, request);
    return { json: writeList(entries, meta), link };
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
  const place = {
    ...readRange(query),
    afterId: query.after_id === undefined ? null : Math.min(query.after_id, Number.MAX_SAFE_INTEGER - 1),
    order: query.order === 'asc' ? 'asc' : 'desc',
    offset: Math.min(page.offset, Number.MAX_SAFE_INTEGER),
    perPage: page.perPage,
  } as const;
  const choice = readTypes(query);
  const { entries, total, newest, ends_open } =
    typeof choice === 'object' && choice !== null
      ? await readChosenEntries(read, accountId, choice, place)
      : await readPlaces(read, accountId, choice, place);
  const pin = total > 0 && ends_open && newest !== null ? newest : undefined;
  return {
    entries: query.include === undefined ? entries : entries.map(withActor),
    meta: pageMeta(page, total),
    link: pageLinks(url, page, total, pin),
  };
}

/** The single action type to list, null = all types, or a choice of several. */
function readTypes({ action_type, exclude_action_type }: Query): string | null | TypeChoice {
  // Text in PostgreSQL can't contain NUL, so no action type does.
  const clean = (types: readonly string[]) => types.map((type) => type.replaceAll('\0', '\uFFFD'));
  const excluded = clean(exclude_action_type ?? []);
  if (action_type === undefined) return excluded.length === 0 ? null : { types: excluded, isExcluding: true };
  const [first = '', ...others] = clean(action_type).filter((type) => !excluded.includes(type));
  if (excluded.length === 0 && others.length === 0) return first;
  return { types: first === '' ? [] : [first, ...others], isExcluding: false };
}

/** Reads a page of all entries, or of those of one type. */
async function readPlaces(
  read: Read,
  accountId: number,
  actionType: string | null,
  { since, before, afterId, order, offset, perPage }: ChosenPage,
): Promise<WrittenPage> {
  const [kind, more] = kindOf(actionType);
  const statements = STATEMENTS[`${kind} ${order}`];
  const values = [accountId, since, before, afterId, offset, perPage, ...more];
  const isWhole = kind === 'all' && since === null && before === null;
  const [found] = isWhole
    ? await read<{ page: string }>(WHOLE_LOG[order], [accountId, afterId, offset, perPage])
    : await read<{ page: string }>(statements.lines, values);
  if (!found) throw new Error(`account ${accountId} has no log`);
  const lines = readLines(found.page);
  const written = await writeWithNames(read, accountId, lines, order);
  return written ? { ...lines, entries: written } : writeRows(await read(statements.columns, values));
}

function withActor(entry: string): string {
  const parsed = JSON.parse(entry) as Static<typeof ActivityEntry>;
  return JSON.stringify({ ...parsed, ...entryActor(parsed.action_type, parsed.properties) });
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
