import { endpoint } from '../../../http/endpoint.ts';
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
import type { ConnectionChange } from '../../../runs/changes/connection-change.ts';
import {
  type AccountChange,
  countChanges,
  listChanges,
  listChangesOfAccount,
} from '../../../runs/changes/list-changes.ts';
import { isHidden } from '../../../runs/changes/redact.ts';
import { orNull } from '../or-null.ts';
import { NO_CONNECTION, readOfConnection } from '../path-connection.ts';
import { tagParameter } from '../tag-parameter.ts';

const side = (description: string) => nullable(Type.String({ description }));

const fields = {
  id: identifier('change identifier'),
  kind: openSet(CHANGE_KINDS, 'what changed; more = further changes that are not listed'),
  name: Type.String({ description: 'the setting, table, index, check or the like' }),
  database: side('the database; null for the whole server'),
  from: side('what it was; null = it came. `changed` stands for a value that may be secret'),
  to: side('what it is; null = it went. `changed` stands for a value that may be secret'),
  source: side('of a setting: where it is set; of a silence or threshold: who changed it'),
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

const form = [isInstant, isNumber];
const place = ({ at, id }: ConnectionChange) => [at, id];
const LIST: KeysetList<ConnectionChange> = { name: 'changes', form, place };
const FLEET_LIST: KeysetList<AccountChange> = { name: 'fleet changes', form, place };

/** What changed on a connection. */
export const changes = endpoint({
  path: '/health/connections/:id/changes',
  operationId: 'listChanges',
  summary: 'What changed on a connection',
  description: OF_CHANGES,
  notFound: NO_CONNECTION,
  query: Type.Object({ ...rangeParameters, ...keysetParameters }),
  response: Type.Object({ data: Type.Array(Change), meta: KeysetMeta }),
  reuse: 'tagged',
  async answer(read, request) {
    const { accountId, id, query } = request;
    const range = readInfiniteRange(query);
    const { rows, meta, link } = await readOfConnection(read, accountId, id, (connectionId) =>
      readKeyset(
        { ...LIST, name: `changes of ${connectionId}` },
        request,
        () => countChanges(read, accountId, { connectionId }, { ...range, most: COUNTED + 1 }),
        (after, limits) =>
          listChanges(read, accountId, connectionId, { ...range, ...limits, ...before(after) }),
      ),
    );
    return { body: { data: rows.map(toChange), meta }, link };
  },
});

/** What changed on all connections. */
export const fleetChanges = endpoint({
  path: '/health/changes',
  operationId: 'listFleetChanges',
  summary: 'What changed on all connections',
  description: OF_CHANGES,
  query: Type.Object({ ...tagParameter, ...rangeParameters, ...keysetParameters }),
  response: Type.Object({ data: Type.Array(FleetChange), meta: KeysetMeta }),
  reuse: 'tagged',
  async answer(read, request) {
    const { accountId, query } = request;
    const { tag: tags = null } = query;
    const range = readInfiniteRange(query);
    const { rows, meta, link } = await readKeyset(
      FLEET_LIST,
      request,
      () => countChanges(read, accountId, { tags }, { ...range, most: COUNTED + 1 }),
      (after, limits) =>
        listChangesOfAccount(read, accountId, tags, { ...range, ...limits, ...before(after) }),
    );
    const data = rows.map(({ connection_id, connection_name, ...change }) => ({
      ...toChange(change),
      connection_id,
      connection_name,
    }));
    return { body: { data, meta }, link };
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

function toChange(change: ConnectionChange): Static<typeof Change> {
  const { id, kind, subject, database, source, at } = change;
  return {
    id,
    kind,
    name: subject,
    database: orNull(database),
    from: withoutHidden(change.before),
    to: withoutHidden(change.after),
    source,
    at: new Date(at).toISOString(),
  };
}

/** The digest of a hidden value tells equal values apart, which nobody outside needs. */
function withoutHidden(value: string | null): string | null {
  return value !== null && isHidden(value) ? 'changed' : value;
}
