import { expect, test } from 'vitest';
import { ACTIONS, actionText, actorText, entryJson, toSentence } from './entry-text.ts';

const entry = (action_type: string, properties: Record<string, unknown>, page_path = '/somewhere') => ({
  id: 7,
  action_type,
  page_path,
  properties,
  occurred_at: '2026-01-31T12:00:00.000Z',
});

test('every action has a label, even one that a newer service added', () => {
  expect(actionText('api_key_revoked')).toBe('API key revoked');
  expect(actionText('alert_rule_added')).toBe('Alert rule added');
  expect(new Set(ACTIONS.map(({ label }) => label)).size).toBe(ACTIONS.length);
});

/** As it is read, with objects in brackets. */
const read = (...given: Parameters<typeof entry>) => {
  const one = entry(...given);
  const words = toSentence(one).map(({ text, object }) => (object ? `[${text}]` : text));
  return `${actorText(one)} ${words.join('')}`;
};

test('an entry is a sentence: who did what to what', () => {
  expect(read('health_check_completed', { connection_id: 3, score: 81 })).toBe(
    'the service checked [connection 3]: score 81',
  );
  expect(read('connection_added', { connection_id: 3, name: 'shop', actor_name: 'Ada' })).toBe(
    'Ada added [shop]',
  );
  expect(read('api_request', { method: 'GET', status: 429, api_key_name: 'Grafana' })).toBe(
    'Grafana requested GET /somewhere: 429',
  );
  expect(read('ticket_opened', { ticket_id: 5, title: 'Locks' })).toBe('the service opened [Locks]');
  expect(read('ticket_escalated', { ticket_id: 5, title: 'Locks', from: 'warning', to: 'critical' })).toBe(
    'the service raised [Locks] from warning to critical',
  );
  expect(
    read('delivery_accepted', { destination_id: 2, destination: 'Pager', kind: 'alert.triggered' }),
  ).toBe('the service sent Alert triggered to [Pager]');
  expect(read('alert_triggered', { alert_id: 4, rule_name: 'Disk', object: 'public.orders' })).toBe(
    'the service triggered the alert [Disk] for public.orders',
  );
  expect(read('alert_acknowledged', { alert_id: 4, rule_name: 'Disk', actor_name: 'Ada' })).toBe(
    'Ada acknowledged the alert [Disk]',
  );
  expect(read('link_created', { purpose: 'owner', member_id: null })).toBe(
    'the operator created a link: first owner',
  );
  expect(read('something_new', {})).toBe('the operator did: Something new');
});

test('every action of the catalogue has a sentence without gaps', () => {
  for (const { id } of ACTIONS) expect(read(id, {}), id).not.toMatch(/[{}]|undefined|null/);
});

test('a snooze is called a snooze', () => {
  const until = '2026-12-26T22:54:08.974Z';
  const ticket = { ticket_id: 5, title: 'Locks', actor_name: 'Ada' };
  expect(read('ticket_acknowledged', { ...ticket, until })).toBe('Ada snoozed [Locks]');
  expect(read('ticket_acknowledged', { ...ticket, until: null })).toBe('Ada acknowledged [Locks]');
  expect(read('ticket_unacknowledged', { ...ticket, until })).toBe('Ada withdrew the snooze of [Locks]');
  expect(read('ticket_unacknowledged', ticket)).toBe('Ada withdrew the acknowledgement of [Locks]');
  expect(read('ticket_assigned', { ...ticket, assignee_id: null })).toBe('Ada unassigned [Locks]');
  expect(read('ticket_assigned', { ...ticket, assignee_id: 2, assignee_name: 'Ben' })).toBe(
    'Ada assigned [Locks] to Ben',
  );
});

test('who is not signed in is named as far as the log knows', () => {
  expect(read('member_signed_in', { name: 'Ada', by: 'password' }, '/sign-in')).toBe(
    'Ada signed in by password',
  );
  expect(read('member_signed_in', { name: 'Ada' }, '/sign-in')).toBe('Ada signed in by an unknown method');
  expect(actorText(entry('member_changed', { name: 'Ada', by: 'oidc' }, '/sign-in'))).toBe('Ada');
  expect(actorText(entry('member_added', { name: 'Ada' }, '/team'))).toBe('the operator');
  expect(actorText(entry('member_added', { name: 'Ada' }, '/link'))).toBe('the user of the link');
  expect(actorText(entry('recipient_confirmed', {}))).toBe('the recipient');
  const failed = { actor: 'unknown', member_id: 1, name: 'Ada', source_ip: '192.0.2.7' };
  expect(read('member_sign_in_failed', failed, '/sign-in')).toBe(
    'somebody entered a wrong password for [Ada], from 192.0.2.7',
  );
  const tried = { api_key_id: 9, api_key_name: 'ci', source_ip: '203.0.113.9', attempts: 12 };
  expect(read('api_key_refused', tried)).toBe(
    'somebody was refused with the API key [ci], from 203.0.113.9, 12 times',
  );
});

test('bidirectional control characters are escaped, and the JSON stays equal', () => {
  const turned = entry('connection_added', { name: 'safe \u202egnp.exe\u2066' });
  const json = entryJson(turned);
  expect(json).toContain('\\u202egnp.exe\\u2066');
  expect(JSON.parse(json)).toEqual(turned);
});
