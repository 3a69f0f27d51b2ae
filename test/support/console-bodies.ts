/** A change or a question that names a row in its body: method and path as in `ROUTES`, the statement that finds such an id, and the body. */
export type ConsoleBody = [route: string, select: string, body: (id: number) => object];

const ofAccount = (column: string, table: string) =>
  `select max(${column}) as id from ${table} where account_id = $1`;
const CONNECTION = ofAccount('connection_id', 'connection');
const DESTINATION = ofAccount('destination_id', 'destination');
const SILENCE = ofAccount('silence_id', 'silence');
const TICKET = ofAccount('ticket_id', 'ticket');
const ACCOUNT = 'select $1::bigint as id';

const RULE = {
  name: 'Score',
  metric: 'score',
  check_id: null,
  measure: null,
  operator: '<',
  threshold: 50,
  clear_threshold: null,
  for_seconds: 0,
  for_runs: 1,
  severity: 'warning',
  connections: { ids: null, names: null },
  destination_ids: null,
  reminder_seconds: null,
  is_enabled: true,
};
const only = (id: number) => ({ ids: [id], names: null });
const WINDOW = { starts_at: '2090-01-01T00:00:00Z', ends_at: '2090-01-01T01:00:00Z' };
const THRESHOLDS = { PG_DEAD_TUPLES: { ratio: 0.3 } };
const TRIED = {
  sql: 'select 1 as value',
  database: null,
  unit: 'count',
  operator: '>=',
  warning: 1,
  critical: null,
  timeout: 5,
};
const WEBHOOK = { channel: 'webhook', name: 'Other', url: 'https://hooks.example.com/', events: [] };

/** Every body in the console that names rows. */
export const CONSOLE_BODIES: readonly ConsoleBody[] = [
  ['POST /alert-rules', CONNECTION, (id) => ({ ...RULE, connections: only(id) })],
  ['POST /alert-rules', DESTINATION, (id) => ({ ...RULE, destination_ids: [id] })],
  ['POST /alert-rules/preview', CONNECTION, (id) => ({ ...RULE, connections: only(id) })],
  ['POST /maintenance', CONNECTION, (id) => ({ name: 'Upgrade', connections: only(id), ...WINDOW })],
  ['POST /silences/end', SILENCE, (id) => ({ ids: [id] })],
  ['POST /silences/resume', SILENCE, (id) => ({ ids: [id] })],
  ['POST /thresholds', CONNECTION, (id) => ({ connections: [id], thresholds: THRESHOLDS })],
  ['POST /thresholds/preview', CONNECTION, (id) => ({ connections: [id], thresholds: THRESHOLDS })],
  ['POST /connections/tags', CONNECTION, (id) => ({ connections: [id], add: ['other'] })],
  ['POST /tickets/triage', TICKET, (id) => ({ tickets: [{ id, version: 0 }], acknowledged: true })],
  ['POST /tickets/triage/undo', TICKET, (id) => ({ tickets: [{ id, version: 0 }] })],
  ['POST /own-checks/try', CONNECTION, (id) => ({ ...TRIED, connection_id: id })],
  ['POST /destinations', CONNECTION, (id) => ({ ...WEBHOOK, connection_ids: [id] })],
  ['POST /me/account', ACCOUNT, (id) => ({ id })],
];
