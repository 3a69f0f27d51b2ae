import { oneOf, someOf } from '../../http/query-parameters.ts';
import { count, openSet, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { Type } from '../../platform/schema/schema.ts';
import { serverVersion } from '../../platform/text/server-version.ts';
import { hasTags, tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { fleetStatusSql } from '../../store/sql/fleet-status.sql.ts';
import { ENGINES, type Engine } from '../../vocabulary/engines.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { FLEET_STATUSES } from '../../vocabulary/score-bands.ts';
import { tagParameter } from './tag-parameter.ts';

// What lists of connections filter by, and the fields that they add on request.

const INCLUDED = [
  'tags',
  'engine',
  'version',
  'provider',
  'url',
  'open_tickets',
  'interval',
  'measured_at',
] as const;

type Included = (typeof INCLUDED)[number];

export const connectionFilters = {
  ...tagParameter,
  engine: oneOf('engine', 'Restricts to connections to servers of this engine.', ENGINES),
  status: oneOf('status', 'Restricts to connections of this status, as in the fleet.', FLEET_STATUSES),
  include: someOf('include', 'Adds these fields to each connection.', INCLUDED),
};

/** The fields of `include`. */
export const includedFields = {
  tags: Type.Optional(
    Type.Array(Type.String(), { description: 'tags of the connection; with `include=tags`' }),
  ),
  engine: Type.Optional(openSet(ENGINES, 'engine of the server; with `include=engine`')),
  version: Type.Optional(
    nullable(
      Type.String({
        description:
          'version of the server, such as 18.4; null before the first check; with `include=version`',
      }),
    ),
  ),
  provider: Type.Optional(
    nullable(
      Type.String({
        description: 'who hosts the server; null if that is not known; with `include=provider`',
      }),
    ),
  ),
  url: Type.Optional(
    Type.String({ description: "the connection's page in the console; with `include=url`" }),
  ),
  open_tickets: Type.Optional(count('open tickets; with `include=open_tickets`')),
  interval: Type.Optional(
    nullable(
      count(
        'seconds from one health check to the next; null if only commands check it; with `include=interval`',
      ),
    ),
  ),
  measured_at: Type.Optional(
    nullable(
      timestamp(
        'time of the latest health check with measured values, as in its measures; null before it; with `include=measured_at`',
      ),
    ),
  ),
};

/** What a request filters by and asks for. */
export interface ConnectionChoice {
  tag?: readonly string[];
  engine?: string;
  status?: string;
  include?: readonly Included[];
}

export function hasChoice({ tag, engine, status, include }: ConnectionChoice): boolean {
  return tag !== undefined || engine !== undefined || status !== undefined || include !== undefined;
}

/** Tags, versions and the like raise no generation, so answers with them are not kept. */
export function readsTags({ tag, include }: ConnectionChoice): boolean {
  return tag !== undefined || include !== undefined;
}

/** SQL: the conditions on `connection c`, with three parameters from `$first` on: {@link filterValues}. */
export function connectionFilter(first: number): string {
  return `
     and ($${first}::text[] is null or ${hasTags('c.connection_id', `$${first}`)})
     and ($${first + 1}::text is null or c.engine = $${first + 1})
     and ($${first + 2}::text is null or ${fleetStatusSql('c.latest_score')} = $${first + 2})`;
}

export function filterValues({ tag, engine, status }: ConnectionChoice): unknown[] {
  return [tag ?? null, engine ?? null, status ?? null];
}

/** SQL: the columns of an {@link IncludedRow} of `connection c`. */
export const includedColumns = `
  ${tagsOfConnection} as tags, c.engine, c.provider,
  (select v.version from connection_version v
    where v.account_id = $1 and v.connection_id = c.connection_id) as version,
  (select coalesce(sum(open_critical + open_warning + open_info), 0)::integer from ticket_tally t
    where t.account_id = $1 and t.connection_id = c.connection_id and t.level = 3) as open_tickets,
  (select extract(epoch from s.every)::integer from connection_schedule s
    where s.account_id = $1 and s.connection_id = c.connection_id) as interval,
  (select l.measured_at from measure_latest l
    where l.account_id = $1 and l.connection_id = c.connection_id) as measured_at`;

export interface IncludedRow {
  tags: string[];
  engine: Engine;
  provider: string | null;
  version: number | null;
  open_tickets: number;
  /** In seconds. */
  interval: number | null;
  measured_at: Date | null;
}

/** The fields that a request asks for, of a row. `url` is that of the request. */
export function pickIncluded(
  include: readonly Included[] | undefined,
  url: string,
  { id, ...row }: IncludedRow & { id: number },
) {
  const { tags, engine, provider, version, open_tickets, interval, measured_at } = row;
  return {
    ...(include?.includes('tags') && { tags }),
    ...(include?.includes('engine') && { engine }),
    ...(include?.includes('version') && {
      version: version === null ? null : serverVersion(engine, version),
    }),
    ...(include?.includes('provider') && { provider }),
    ...(include?.includes('url') && { url: serviceUrl(url) + PAGE_LINKS.connection(id) }),
    ...(include?.includes('open_tickets') && { open_tickets }),
    ...(include?.includes('interval') && { interval }),
    ...(include?.includes('measured_at') && { measured_at: measured_at?.toISOString() ?? null }),
  };
}

/** The address of the service, from that of a request to the API or the console. */
export function serviceUrl(url: string): string {
  return /^.*?(?=\/(?:api\/v1|console)\/)/.exec(url)?.[0] ?? new URL(url).origin;
}
