/** A change of a row by its id: method and path as in `ROUTES`, the statement that finds such an id, and a valid body. */
export type ConsoleChange = [route: string, select: string, body?: object];

const ofAccount = (column: string, table: string) =>
  `select max(${column}) as id from ${table} where account_id = $1`;
const CONNECTION = ofAccount('connection_id', 'connection');
const DESTINATION = ofAccount('destination_id', 'destination');
const MEMBER = ofAccount('member_id', 'member');
const RULE = ofAccount('rule_id', 'alert_rule');
const ALERT = ofAccount('alert_id', 'alert');
const KEY = ofAccount('api_key_id', 'api_key');
const VIEW = ofAccount('view_id', 'saved_view');
const SILENCE = ofAccount('silence_id', 'silence');

/** Every change in the console that names a row by its id. */
export const CONSOLE_CHANGES: readonly ConsoleChange[] = [
  ['PATCH /connections/:id', CONNECTION, { version: 1, name: 'Other' }],
  ['DELETE /connections/:id', CONNECTION],
  ['POST /connections/:id/run', CONNECTION],
  ['POST /connections/:id/test', CONNECTION, { version: 1, name: 'Other' }],
  ['POST /connections/:id/queries/texts', CONNECTION, { queries: ['1'] }],
  ['POST /connections/:id/heartbeat', CONNECTION],
  ['DELETE /connections/:id/heartbeat', CONNECTION],
  [
    'POST /connections/:id/silences',
    CONNECTION,
    { check_id: 'PG_VERSION_EOL', reason: 'accepted_risk', note: 'until the move' },
  ],
  ['DELETE /silences/:id', SILENCE],
  ['POST /silences/:id/undo', SILENCE],
  ['PATCH /destinations/:id', DESTINATION, { name: 'Other' }],
  ['DELETE /destinations/:id', DESTINATION],
  ['POST /destinations/:id/test', DESTINATION],
  ['POST /destinations/:id/send-open-tickets', DESTINATION],
  ['POST /destinations/:id/send-digest', DESTINATION],
  ['POST /destinations/:id/rotate-secret', DESTINATION, { end_old: true }],
  ['POST /destinations/:id/enable', DESTINATION, { missed: 'skip' }],
  ['POST /destinations/:id/disable', DESTINATION],
  ['POST /destinations/:id/ask-again', DESTINATION],
  [
    'POST /destinations/:id/resend',
    DESTINATION,
    { from: '2020-01-01T00:00:00Z', to: '2090-01-01T00:00:00Z', states: ['accepted'] },
  ],
  ['POST /deliveries/:id/resend', ofAccount('delivery_id', 'delivery')],
  ['PATCH /members/:id', MEMBER, { version: '1', name: 'Other' }],
  ['DELETE /members/:id', MEMBER],
  ['POST /members/:id/link', MEMBER],
  ['PATCH /alert-rules/:id', RULE, { name: 'Other' }],
  ['DELETE /alert-rules/:id', RULE],
  ['POST /alerts/:id/acknowledge', ALERT, { until: null, note: '' }],
  ['POST /alerts/:id/unacknowledge', ALERT],
  ['DELETE /maintenance/:id', ofAccount('maintenance_id', 'maintenance')],
  ['POST /tickets/:id/comments', ofAccount('ticket_id', 'ticket'), { body: 'Look' }],
  ['DELETE /ticket-comments/:id', ofAccount('comment_id', 'ticket_comment')],
  ['PATCH /keys/:id', KEY, { version: 1, scopes: null, allowed_addresses: null }],
  ['POST /keys/:id/regenerate', KEY, { overlap: 0 }],
  ['POST /keys/:id/revoke', KEY, {}],
  ['POST /collectors/:id/revoke', ofAccount('collector_id', 'collector')],
  ['PATCH /views/:id', VIEW, { name: 'Other' }],
  ['DELETE /views/:id', VIEW],
  ['PATCH /shared-views/:id', VIEW, { name: 'Other' }],
  ['DELETE /shared-views/:id', VIEW],
  ['DELETE /sessions/:id', ofAccount('session_id', 'session')],
];
