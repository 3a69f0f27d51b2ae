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
import { oneOf, wholeNumber } from '../../../http/query-parameters.ts';
import { rangeParameters } from '../../../http/range-parameters.ts';
import { listChosenAlerts } from '../../../notifications/alerts/list-alerts.ts';
import { closedSet, identifier, openSet, timestamp } from '../../../platform/schema/fields.ts';
import { nullable } from '../../../platform/schema/nullable.ts';
import { type Static, Type } from '../../../platform/schema/schema.ts';
import { ALERT_OPERATORS } from '../../../vocabulary/alert-metrics.ts';
import { CONNECTION_TYPES } from '../../../vocabulary/connection-types.ts';
import { SEVERITIES } from '../../../vocabulary/severities.ts';
import { readOfConnection } from '../path-connection.ts';
import { instant, itemWriter, number, raw, text, writeList } from '../write-records.ts';
import { readInfiniteRange } from './changes.ts';

const STATUSES = ['open', 'resolved'];

const AlertConnection = Type.Object(
  {
    id: identifier('connection identifier'),
    name: Type.String({ description: 'connection name' }),
    host: Type.String({ description: 'host address of the database' }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'listener port' }),
    connection_type: openSet(CONNECTION_TYPES, 'connection type'),
  },
  { title: 'AlertConnection', description: 'the connection of an alert' },
);

const Alert = Type.Object(
  {
    id: identifier('alert identifier'),
    alert_id: identifier('the same, as in the events'),
    status: closedSet(STATUSES, 'open until the condition no longer holds'),
    severity: closedSet(SEVERITIES, 'severity of the rule'),
    rule_name: Type.String({ description: 'name of the rule' }),
    connection: AlertConnection,
    metric: Type.String({ description: 'what the rule compares; an open set' }),
    operator: openSet(ALERT_OPERATORS, 'how the value is compared with the threshold'),
    threshold: Type.Number({ description: 'threshold of the rule' }),
    value: Type.Number({ description: 'the value when the alert was triggered' }),
    check_id: nullable(Type.String({ description: 'code of the check; null if the rule names none' })),
    database: nullable(Type.String({ description: 'the database; null for the whole server' })),
    object: nullable(
      Type.String({ description: 'the affected object; null for the whole database or server' }),
    ),
    metric_line: Type.String({ description: 'measured value in words' }),
    triggered_at: timestamp('time when it was triggered'),
    acknowledged_at: nullable(timestamp('time when a member acknowledged it; null if nobody has')),
    resolved_at: nullable(timestamp('time of resolution; null while open')),
    resolution: nullable(Type.String({ description: 'why it was resolved; null while open' })),
  },
  { title: 'Alert', description: 'a rule whose condition holds, or held, for a connection' },
);

const writeAlert = itemWriter<Static<typeof Alert>>({
  id: raw,
  alert_id: raw,
  status: text,
  severity: text,
  rule_name: text,
  connection: { id: raw, name: text, host: text, port: raw, connection_type: text },
  metric: text,
  operator: text,
  threshold: number,
  value: number,
  check_id: text,
  database: text,
  object: text,
  metric_line: text,
  triggered_at: instant,
  acknowledged_at: instant,
  resolved_at: instant,
  resolution: text,
});

const LIST: KeysetList = {
  name: 'alerts',
  form: [isInstant, isNumber],
  place: ({ 0: id, 18: at }) => [isoTime(at ?? '', 6), id ?? ''],
};

/** Open and resolved alerts. */
export const alerts = writtenEndpoint({
  path: '/ops/alerts',
  operationId: 'listAlerts',
  summary: 'Alerts, latest first',
  description:
    'By `triggered_at`, latest first; the filters combine. `from` and `to` apply to `triggered_at`. The fields of an alert are those of the events `alert.triggered` and `alert.resolved`, and more.',
  notFound: 'The account has no connection with this `connection_id`.',
  query: Type.Object({
    status: oneOf('status', 'Restricts to alerts of this status.', STATUSES),
    severity: oneOf('severity', 'Restricts to alerts of this severity.', SEVERITIES),
    connection_id: wholeNumber(
      'connection_id',
      'Restricts to one connection. 404 if the account has no such connection.',
      { minimum: 1 },
    ),
    ...rangeParameters,
    ...keysetParameters,
  }),
  response: Type.Object({ data: Type.Array(Alert), meta: KeysetMeta }),
  reuse: 'tagged',
  async write(read, request) {
    const { accountId, query } = request;
    const { status = null, severity = null, connection_id: connectionId = null } = query;
    const choice = { status, severity, connectionId, ...readInfiniteRange(query) };
    const list = () =>
      readKeyset(LIST, request, (before, limits) =>
        listChosenAlerts(read, accountId, choice, { before, ...limits, most: COUNTED + 1 }),
      );
    const { rows, meta, link } =
      connectionId === null
        ? await list()
        : await readOfConnection(read, accountId, String(connectionId), list);
    return { json: writeList(rows.map(writeAlert), meta), link };
  },
});
