import { isoTime } from '../../../activity/write-entry.ts';
import { writtenEndpoint } from '../../../http/endpoint.ts';
import {
  COUNTED,
  isInstant,
  isNumber,
  type KeysetList,
  KeysetMeta,
  keysetParameters,
  readKeyset,
} from '../../../http/keyset.ts';
import { rangeParameters, readRange } from '../../../http/range-parameters.ts';
import { identifier, openSet, timestamp } from '../../../platform/schema/fields.ts';
import { nullable } from '../../../platform/schema/nullable.ts';
import { type Static, Type } from '../../../platform/schema/schema.ts';
import { CHANGE_KINDS } from '../../../platform/text/change-text.ts';
import { listChangesOfAccount, listChangeTexts } from '../../../runs/changes/list-changes.ts';
import { isHidden } from '../../../runs/changes/redact.ts';
import type { TextRow } from '../../../store/sql/records.sql.ts';
import { NO_CONNECTION, readOfConnection } from '../path-connection.ts';
import { tagParameter } from '../tag-parameter.ts';
import { instant, itemWriter, raw, text, type WriteValue, writeList } from '../write-records.ts';

const value = (description: string) => nullable(Type.String({ description }));

const fields = {
  id: identifier('change identifier'),
  kind: openSet(CHANGE_KINDS, 'what changed; more = further changes that are not listed'),
  name: Type.String({ description: 'the setting, table, index, check or the like' }),
  database: value('the database; null for the whole server'),
  from: value('what it was; null = it came. `changed` stands for a value that may be secret'),
  to: value('what it is; null = it went. `changed` stands for a value that may be secret'),
  source: value('of a setting: where it is set; of a silence or threshold: who changed it'),
  at: timestamp('time of the health check that found it, or when a member changed it'),
};

const Change = Type.Object(fields, { title: 'Change', description: 'a change of a connection' });

const FleetChange = Type.Object(
  {
    ...fields,
    connection_id: identifier('connection identifier'),
    connection_name: Type.String({ description: 'connection name' }),
  },
  { title: 'FleetChange', description: 'a change of one of the connections' },
);

const OF_CHANGES =
  'Settings, version, schema, restarts, findings, and what members decided, latest first. Kept for 13 months.';

/** The digest of a hidden value tells equal values apart, which nobody outside needs. */
const side: WriteValue = (value) => text(value !== null && isHidden(value) ? 'changed' : value);

const write = {
  id: raw,
  kind: text,
  name: text,
  database: text,
  from: side,
  to: side,
  source: text,
  at: instant,
};
const writeChange = itemWriter<Static<typeof Change>>(write);
const writeFleetChange = itemWriter<Static<typeof FleetChange>>({
  ...write,
  connection_id: raw,
  connection_name: text,
});

const LIST: KeysetList = {
  name: 'changes',
  form: [isInstant, isNumber],
  place: ({ 0: id, 7: at }: TextRow) => [isoTime(at ?? '', 6), id ?? ''],
};
const FLEET_LIST: KeysetList = { ...LIST, name: 'fleet changes' };

/** What changed on a connection. */
export const changes = writtenEndpoint({
  path: '/health/connections/:id/changes',
  operationId: 'listChanges',
  summary: 'What changed on a connection',
  description: OF_CHANGES,
  notFound: NO_CONNECTION,
  query: Type.Object({ ...rangeParameters, ...keysetParameters }),
  response: Type.Object({ data: Type.Array(Change), meta: KeysetMeta }),
  reuse: 'tagged',
  async write(read, request) {
    const { accountId, id, query } = request;
    const range = { ...readInfiniteRange(query), most: COUNTED + 1 };
    const { rows, meta, link } = await readOfConnection(read, accountId, id, (connectionId) =>
      readKeyset({ ...LIST, name: `changes of ${connectionId}` }, request, (after, limits) =>
        listChangeTexts(read, accountId, connectionId, { ...range, ...limits, ...before(after) }),
      ),
    );
    return { json: writeList(rows.map(writeChange), meta), link };
  },
});

/** What changed on all connections. */
export const fleetChanges = writtenEndpoint({
  path: '/health/changes',
  operationId: 'listFleetChanges',
  summary: 'What changed on all connections',
  description: OF_CHANGES,
  query: Type.Object({ ...tagParameter, ...rangeParameters, ...keysetParameters }),
  response: Type.Object({ data: Type.Array(FleetChange), meta: KeysetMeta }),
  reuse: 'tagged',
  async write(read, request) {
    const { accountId, query } = request;
    const { tag: tags = null } = query;
    const range = { ...readInfiniteRange(query), most: COUNTED + 1 };
    const { rows, meta, link } = await readKeyset(FLEET_LIST, request, (after, limits) =>
      listChangesOfAccount(read, accountId, tags, { ...range, ...limits, ...before(after) }),
    );
    return { json: writeList(rows.map(writeFleetChange), meta), link };
  },
});

function before(after: readonly string[] | null) {
  const [at, id] = after ?? [];
  return at === undefined || id === undefined ? {} : { before: { at, id } };
}

/** The range of validated parameters, open where none is given. */
export function readInfiniteRange(query: Parameters<typeof readRange>[0]): { from: string; to: string } {
  const { since, before: end } = readRange(query);
  return { from: since ?? '-infinity', to: end ?? 'infinity' };
}
