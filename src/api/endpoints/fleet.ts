import { endpoint } from '../../http/endpoint.ts';
import { closedSet, count, identifier, score } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { Type } from '../../platform/schema/schema.ts';
import type { Read } from '../../store/read.ts';
import { fleetStatusSql } from '../../store/sql/fleet-status.sql.ts';
import { FLEET_STATUSES, type FleetStatus, SCORE_BANDS } from '../../vocabulary/score-bands.ts';
import {
  type ConnectionChoice,
  connectionFilter,
  connectionFilters,
  filterValues,
  hasChoice,
  type IncludedRow,
  includedColumns,
  includedFields,
  pickIncluded,
  readsTags,
} from './connection-fields.ts';

const { healthy, warning } = SCORE_BANDS;

const FleetEntry = Type.Object(
  {
    id: identifier('connection identifier'),
    name: Type.String({ description: 'connection name' }),
    score: nullable(score('latest score; null before the first check')),
    status: closedSet(
      FLEET_STATUSES,
      `healthy (${healthy} and over), warning (${warning} to ${healthy - 1}), critical (under ${warning}) or never_run (no check yet)`,
    ),
    ...includedFields,
  },
  { title: 'FleetEntry', description: 'a connection and its status' },
);

const FleetSummary = Type.Object(
  {
    total: count('connections'),
    healthy: count('connections that are healthy'),
    warning: count('connections with status warning'),
    critical: count('connections with status critical'),
    never_run: count('connections without a health check'),
  },
  { title: 'FleetSummary', description: 'number of connections by status' },
);

// latest_score is stored with the connection: joining the latest checks of 10,000 connections took up to 90 ms.
const listFleet = (filter = '', more = '') => `
  select connection_id as id,
         name,
         latest_score as score,
         ${fleetStatusSql('latest_score')} as status${more}
    from connection c
   where account_id = $1
     and removed_at is null${filter}
   order by connection_id`;

const wholeFleet = listFleet();
const chosenFleet = listFleet(connectionFilter(2), `, ${includedColumns}`);

interface FleetRow {
  id: number;
  name: string;
  score: number | null;
  status: FleetStatus;
}

/** Endpoint 3: all connections of the account, and how many have each status. */
export const fleet = endpoint({
  path: '/health/fleet',
  operationId: 'getFleet',
  summary: 'All connections with their status, and a count of each status',
  description:
    'The whole fleet in one answer, by `id`. Use it for a wallboard or a poll every minute. `summary` counts the connections that match the filters.',
  query: Type.Object(connectionFilters),
  response: Type.Object({ data: Type.Array(FleetEntry), summary: FleetSummary }),
  reuse: 'kept',
  isFresh: readsTags,
  async answer(read, { accountId, query, url }) {
    const data = hasChoice(query)
      ? await readChosen(read, accountId, query, url)
      : await read<FleetRow>(wholeFleet, [accountId]);
    const summary = { total: data.length, healthy: 0, warning: 0, critical: 0, never_run: 0 };
    for (const { status } of data) summary[status] += 1;
    return { body: { data, summary } };
  },
});

async function readChosen(read: Read, accountId: number, choice: ConnectionChoice, url: string) {
  const values = [accountId, ...filterValues(choice)];
  const rows = await read<FleetRow & IncludedRow>(chosenFleet, values);
  return rows.map(({ id, name, score, status, ...row }) => ({
    id,
    name,
    score,
    status,
    ...pickIncluded(choice.include, url, { id, ...row }),
  }));
}
