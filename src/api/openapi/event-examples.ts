const connection = { id: 2, name: 'orders', host: 'db-2.example.com', port: 5432, connection_type: 'direct' };
const alert = {
  alert_id: 7,
  connection,
  metric: 'score',
  operator: '<',
  threshold: 50,
  value: 41,
  triggered_at: '2026-03-02T10:15:00.000Z',
};
const ticket = {
  ticket_id: 31,
  connection_id: 2,
  title: 'A table holds many dead rows',
  severity: 'warning',
  first_seen_at: '2026-03-02T10:15:00.000Z',
};
const collector = {
  collector_id: 2,
  name: 'frankfurt',
  connections: 12,
  last_contact_at: '2026-03-07T10:13:58.000Z',
};
const remediation = 'VACUUM (ANALYZE) public.orders;';

/** One example of each event, by its kind. Those of the specification's five are frozen, like their format. */
export const EVENT_EXAMPLES: Readonly<Record<string, { event: string; timestamp: string; data: object }>> =
  Object.fromEntries(
    [
      example('health_check.completed', '2026-03-02T10:15:00.000Z', {
        connection_id: 2,
        health_check_id: 118,
        score: 74,
        status: 'warning',
        top_finding: {
          check_id: 'PG_DEAD_TUPLES',
          category: 'vacuum',
          status: 'warning',
          title: ticket.title,
          metric_line:
            '31 % of the rows of public.orders are dead: vacuum it, and look at what holds autovacuum up.',
          remediation,
          severity: 'warning',
        },
      }),
      example('ops.ticket_created', '2026-03-02T10:15:00.000Z', {
        ...ticket,
        check_id: 'PG_DEAD_TUPLES',
        remediation,
      }),
      example('ops.ticket_resolved', '2026-03-02T14:45:00.000Z', {
        ...ticket,
        resolved_at: '2026-03-02T14:45:00.000Z',
        resolution_hours: 4.5,
      }),
      example('alert.triggered', '2026-03-02T10:15:00.000Z', alert),
      example('alert.resolved', '2026-03-02T11:00:00.000Z', {
        ...alert,
        resolved_at: '2026-03-02T11:00:00.000Z',
      }),
      example('ops.ticket_reopened', '2026-03-02T16:10:00.000Z', {
        ...ticket,
        check_id: 'PG_DEAD_TUPLES',
        remediation,
      }),
      example('ops.ticket_escalated', '2026-03-02T18:20:00.000Z', {
        ...ticket,
        severity: 'critical',
        check_id: 'PG_DEAD_TUPLES',
        remediation,
        previous_severity: 'warning',
      }),
      example('destination.disabled', '2026-03-07T10:15:00.000Z', {
        destination_id: 3,
        name: 'Chat of the night shift',
        channel: 'slack',
        reason: 'every attempt of the last 5 days failed',
        disabled_at: '2026-03-07T10:15:00.000Z',
      }),
      example('api_key.expiring', '2026-03-07T10:15:00.000Z', {
        api_key_id: 7,
        name: 'Grafana, production',
        last_four: 'a1B2',
        expires_at: '2026-03-21T09:00:00.000Z',
        last_used_at: '2026-03-07T10:14:55.120Z',
      }),
      example('collector.silent', '2026-03-07T10:15:00.000Z', collector),
      example('collector.returned', '2026-03-07T10:25:00.000Z', {
        ...collector,
        last_contact_at: '2026-03-07T10:24:48.000Z',
      }),
      example('test', '2026-03-02T10:00:00.000Z', {
        destination_id: 3,
        name: 'Chat of the night shift',
        message: 'This is a test from dbvitals. Nothing happened.',
      }),
    ].map((one) => [one.event, one]),
  );

function example(event: string, timestamp: string, data: object) {
  return { event, timestamp, api_version: 'v1', data };
}
