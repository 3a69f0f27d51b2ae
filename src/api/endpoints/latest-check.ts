import { endpoint } from '../../http/endpoint.ts';
import { resourceNotFound } from '../../http/errors.ts';
import { someOf } from '../../http/query-parameters.ts';
import { Rejection } from '../../platform/rejection.ts';
import { identifier, openSet, score, timestamp } from '../../platform/schema/fields.ts';
import { Type } from '../../platform/schema/schema.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { type FaultNumber, measuredFields, objectFields, toMeasuredFields } from './measured-fields.ts';
import { parseConnectionId } from './path-connection.ts';

const CheckFinding = Type.Object(
  {
    check_id: Type.String({
      description: 'code of the check, an upper-case identifier such as PG_DEAD_TUPLES; an open set',
    }),
    category: Type.String({
      description: 'check category, a lower-case identifier such as vacuum; an open set',
    }),
    status: openSet(['ok', ...SEVERITIES.toReversed(), 'skipped', 'error'], 'result of the check'),
    title: Type.String({ description: 'human-readable title' }),
    metric_line: Type.String({
      description: 'measured value with recommendation; for skipped or error, why it could not be measured',
    }),
    remediation: Type.String({ description: 'suggested corrective statement' }),
    severity: openSet(
      SEVERITIES,
      'severity of the finding; for a check that is ok, skipped or error, the highest severity that it can report',
    ),
    ...measuredFields,
    ...objectFields,
  },
  { title: 'CheckFinding', description: 'result of one check' },
);

const HealthCheckResult = Type.Object(
  {
    id: identifier('health check identifier'),
    score: score('health score'),
    summary_text: Type.String({ description: 'short summary of the findings' }),
    created_at: timestamp('creation time'),
    checks: Type.Array(CheckFinding, {
      description: 'all findings, including passing checks, worst first',
    }),
  },
  { title: 'HealthCheckResult', description: 'a health check of a connection' },
);

const latestResult = `
  select h.health_check_id as id,
         h.score,
         h.summary_text,
         h.created_at,
         h.findings as checks
    from connection c
    left join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   where c.account_id = $1
     and c.connection_id = $2
     and c.removed_at is null`;

interface ResultRow {
  id: number | null;
  score: number;
  summary_text: string;
  created_at: Date;
  checks: {
    check_id: string;
    category: string;
    status: string;
    title: string;
    metric_line: string;
    remediation: string;
    severity: string;
    database: string;
    object: string | null;
    measured?: FaultNumber;
  }[];
}

const noCheckYet = new Rejection('not_found', 'no health check has run for this connection yet');

/** Endpoint 2: the most recent health check of a connection with all its findings. */
export const latestCheck = endpoint({
  path: '/health/connections/:id/checks/latest',
  operationId: 'getLatestHealthCheck',
  summary: 'The most recent health check of a connection',
  description:
    'The health check with all its findings. A check that could not be measured is `skipped` or `error`, never `ok`.',
  notFound:
    'The account has no such connection, the identifier is not a positive integer, or no health check has run yet.',
  query: Type.Object({
    include: someOf('include', 'Adds fields to each finding.', ['measured', 'object']),
  }),
  response: Type.Object({ data: HealthCheckResult }),
  reuse: 'kept',
  async answer(read, { accountId, id, query: { include } }) {
    const [row] = await read<ResultRow>(latestResult, [accountId, parseConnectionId(id)]);
    if (!row) throw resourceNotFound;
    if (row.id === null) throw noCheckYet;
    const checks = row.checks.map(({ database, object, measured, ...finding }) => ({
      ...finding,
      ...(include?.includes('measured') && toMeasuredFields(measured)),
      ...(include?.includes('object') && { database: database || null, object }),
    }));
    return { body: { data: { ...row, checks, id: row.id, created_at: row.created_at.toISOString() } } };
  },
});
