import { listCollectors, requireCollector } from '../../accounts/collectors/collector-row.ts';
import { issueToken } from '../../accounts/collectors/issue-token.ts';
import { revokeCollector } from '../../accounts/collectors/revoke-collector.ts';
import { addConnection } from '../../connections/add-connection.ts';
import { collectedAddress } from '../../connections/collected-connection.ts';
import { changeTagsWithin, requireTags, requireTagsOfOne } from '../../connections/tags/change-tags.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { singleLine } from '../single-line.ts';

const Collector = Type.Object({
  id: identifier('collector'),
  name: Type.String(),
  state: stringEnum('waiting', 'connected', 'silent', 'revoked'),
  fingerprint: nullable(Type.String({ description: 'of its public key; null = it was never enrolled' })),
  version: nullable(Type.String({ description: 'of its program' })),
  enrolled_at: nullable(timestamp('time of the last enrolment')),
  last_contact_at: nullable(timestamp('time of its last request')),
  revoked_at: nullable(timestamp('time of the revocation')),
  connections: count('connections that it measures'),
  buffered: count('results that wait there for delivery'),
  buffered_seconds: Type.Number({ description: 'age of the oldest of them' }),
});
const Collectors = Type.Object({
  data: Type.Array(Collector, { description: 'by id' }),
  as_of: timestamp('the time by the service'),
});
const NewToken = Type.Object({
  name: singleLine(200, 'Enter a name of 1 to 200 characters, such as that of the site.'),
});
const IssuedToken = Type.Object({
  id: identifier('collector'),
  name: Type.String(),
  token: Type.String({ description: 'shown this once: the service stores only a hash of it' }),
  expires_at: timestamp('end of the token'),
});
const NewCollected = Type.Object({
  name: singleLine(200, 'Enter a name of 1 to 200 characters.'),
  collector: singleLine(200, 'Choose a collector.'),
  engine: stringEnum(...ENGINES),
  interval_seconds: Type.Optional(
    Type.Integer({ minimum: 10, maximum: 604_800, description: 'The interval is 10 seconds to 7 days.' }),
  ),
  pulse_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 60,
      description: 'The pulse is every 1 to 60 seconds, or 0 for never.',
    }),
  ),
  tags: Type.Optional(Type.Array(Type.String())),
  /** Whether texts of queries are stored, if the collector sends them. */
  query_texts: Type.Optional(Type.Boolean()),
});
const AddedCollected = Type.Object({ id: identifier('connection') });

/** A collector as the console shows it. */
export type Collector = Static<typeof Collector>;
/** The answer of GET /collectors. */
export type Collectors = Static<typeof Collectors>;
/** POST /collectors: makes a token, for a new collector or for a known one, whose key it replaces. */
export type NewToken = Static<typeof NewToken>;
/** The answer of POST /collectors. */
export type IssuedToken = Static<typeof IssuedToken>;
/** POST /collectors/connections: a connection whose address and login are in the collector's file. */
export type NewCollected = Static<typeof NewCollected>;
/** The answer of POST /collectors/connections. */
export type AddedCollected = Static<typeof AddedCollected>;

/** As for `connection add`. */
const INTERVAL = 300;

const list = consoleRoute({
  method: 'GET',
  path: '/collectors',
  permission: 'health:read',
  response: Collectors,
  async handler({ actor: { accountId }, read }) {
    const rows = await read((run) => listCollectors(run, accountId));
    const instant = (at: Date | null) => at?.toISOString() ?? null;
    return {
      data: rows.map((row) => ({
        ...row,
        enrolled_at: instant(row.enrolled_at),
        last_contact_at: instant(row.last_contact_at),
        revoked_at: instant(row.revoked_at),
      })),
      as_of: new Date().toISOString(),
    };
  },
});

const enrol = consoleRoute({
  method: 'POST',
  path: '/collectors',
  recent: true,
  permission: 'keys:write',
  body: NewToken,
  response: IssuedToken,
  status: 201,
  async handler({ body, change }) {
    const { expires_at, ...issued } = await change((made) => issueToken(made, body.name.trim()));
    return { ...issued, expires_at: expires_at.toISOString() };
  },
});

const revoke = consoleRoute({
  method: 'POST',
  path: '/collectors/:id/revoke',
  permission: 'keys:write',
  response: null,
  async handler({ change, id }) {
    await change((made) => revokeCollector(made, id));
  },
});

const add = consoleRoute({
  method: 'POST',
  path: '/collectors/connections',
  permission: 'connections:write',
  body: NewCollected,
  response: AddedCollected,
  status: 201,
  async handler({ body, change, parts }) {
    const { engine, interval_seconds: every = INTERVAL, pulse_seconds: pulseSeconds } = body;
    const { query_texts: queryTexts = false } = body;
    const name = body.name.trim();
    const tags = requireTags(body.tags ?? []);
    requireTagsOfOne(tags);
    return change(async (within) => {
      const collector = await requireCollector(within.client, within.accountId, body.collector);
      const { id } = await addConnection((work) => work(within), parts.secret, {
        ...collectedAddress(engine, collector.name),
        name,
        every,
        tls: 'verify-full',
        queryTexts,
        ...(pulseSeconds !== undefined && { pulseSeconds }),
        collectedBy: { ...collector, as: name },
      });
      await changeTagsWithin(within, [id], { add: tags });
      return { id };
    });
  },
});

export const collectorRoutes: readonly ConsoleRoute[] = [list, enrol, revoke, add];
