import { changeTags, requireTags } from '../../connections/tags/change-tags.ts';
import { countTags, readTags } from '../../connections/tags/connection-tags.ts';
import { Rejection } from '../../platform/rejection.ts';
import { count } from '../../platform/schema/fields.ts';
import { Type } from '../../platform/schema/schema.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** Connections of one change. */
const MOST_CONNECTIONS = 1_000;

const TagList = Type.Object({
  /** Sorted by tag. */
  data: Type.Array(Type.Object({ tag: Type.String(), connections: count('connections with it') })),
});

const Tags = Type.Optional(
  Type.Array(Type.String({ maxLength: 400 }), {
    maxItems: 100,
    description: 'Send at most 100 tags, each at most 400 characters.',
  }),
);

const TagChange = Type.Object(
  {
    connections: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      minItems: 1,
      maxItems: MOST_CONNECTIONS,
      uniqueItems: true,
      description: `Send the ids of 1 to ${MOST_CONNECTIONS} connections, each once.`,
    }),
    add: Tags,
    remove: Tags,
    /** Whether it is the reverse of an earlier change: then connections that were changed since are left out. */
    undo: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

const Tagged = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.Integer(),
      tags: Type.Array(Type.String()),
      /** What the change added and removed; the reverse undoes it. */
      added: Type.Array(Type.String()),
      removed: Type.Array(Type.String()),
    }),
  ),
});

const list = consoleRoute({
  method: 'GET',
  path: '/tags',
  permission: 'health:read',
  response: TagList,
  async handler({ actor: { accountId }, read }) {
    return { data: countTags((await read((run) => readTags(run, accountId))).values()) };
  },
});

const nothing = new Rejection('invalid_parameter', 'Send at least one tag to add or to remove.', {
  parameter: 'add',
});

const change = consoleRoute({
  method: 'POST',
  path: '/connections/tags',
  permission: 'connections:write',
  body: TagChange,
  response: Tagged,
  cost: 5,
  async handler({ body: { connections, add = [], remove = [], undo = false }, change }) {
    if (add.length + remove.length === 0) throw nothing;
    const changes = { add: requireTags(add), remove: requireTags(remove), undo };
    const tagged = await changeTags(change, connections, changes);
    return {
      data: tagged.map(({ id, tags, added, removed }) => ({
        id,
        tags: [...tags],
        added: [...added],
        removed: [...removed],
      })),
    };
  },
});

/** The routes of tags. */
export const tagRoutes: ConsoleRoute[] = [list, change];
