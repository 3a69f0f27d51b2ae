import { titleOf } from '../../checks/catalogue.ts';
import { count, identifier } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { endSilences, MOST_SILENCES } from '../../tickets/silences/end-silence.ts';
import { type ListedSilence, silencesOfAccount } from '../../tickets/silences/list-silences.ts';
import { resumeSilences } from '../../tickets/silences/undo-silences.ts';
import { Silence } from '../connections/silences.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** The most silences of a page. */
const LISTED = 2_000;

const AccountSilence = Type.Object({
  ...Silence.properties,
  connection_name: Type.String(),
  title: Type.String(),
  /** Null = unknown: it was added by an older version. */
  created_by: nullable(Type.String()),
});

const AccountSilences = Type.Object({
  /** The newest first. */
  data: Type.Array(AccountSilence),
  total: count('active silences; `data` has the newest 2,000'),
});

export type AccountSilence = Static<typeof AccountSilence>;
export type AccountSilences = Static<typeof AccountSilences>;

const list = consoleRoute({
  method: 'GET',
  path: '/silences',
  permission: 'health:read',
  response: AccountSilences,
  async handler({ actor: { accountId }, read }) {
    const rows = await read((run) => run<ListedSilence>(silencesOfAccount, [accountId, LISTED]));
    return {
      total: rows[0]?.total ?? 0,
      data: rows.map(({ total: _total, created_at, until, ...silence }) => ({
        ...silence,
        title: titleOf(silence.check_id) ?? silence.check_id,
        created_at: created_at.toISOString(),
        until: until?.toISOString() ?? null,
      })),
    };
  },
});

const Ids = Type.Object(
  {
    ids: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      minItems: 1,
      maxItems: MOST_SILENCES,
      uniqueItems: true,
      description: `Send the ids of 1 to ${MOST_SILENCES} silences, each once.`,
    }),
  },
  { additionalProperties: false },
);

const end = consoleRoute({
  method: 'POST',
  path: '/silences/end',
  permission: 'connections:write',
  body: Ids,
  response: Type.Object({ ended: Type.Array(identifier('a silence that had not ended yet')) }),
  cost: 5,
  async handler({ body: { ids }, change }) {
    return { ended: (await endSilences(change, ids)).map(({ id }) => id) };
  },
});

const resume = consoleRoute({
  method: 'POST',
  path: '/silences/resume',
  permission: 'connections:write',
  body: Ids,
  response: Type.Object({ resumed: count('those whose end was undone') }),
  cost: 5,
  async handler({ body: { ids }, change }) {
    return { resumed: (await resumeSilences(change, ids)).length };
  },
});

/** The routes of all silences of an account. */
export const silenceListRoutes: ConsoleRoute[] = [list, end, resume];
