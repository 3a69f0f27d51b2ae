import { expect, test } from 'vitest';
import { ACTIONS, actionText, actorText, detailsText, entryJson, entryText } from './entry-text.ts';

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

test('a snooze is called a snooze, and what a command did is not the service’s', () => {
  const until = '2026-12-26T22:54:08.974Z';
  expect(entryText(entry('ticket_acknowledged', { until }))).toBe('Ticket snoozed');
  expect(entryText(entry('ticket_acknowledged', { until: null }))).toBe('Ticket acknowledged');
  expect(entryText(entry('ticket_unacknowledged', { until }))).toBe('Ticket snooze withdrawn');
  expect(entryText(entry('ticket_unacknowledged', {}))).toBe('Ticket acknowledgement withdrawn');
  expect(entryText(entry('ticket_assigned', { assignee_id: null }))).toBe('Ticket unassigned');
  expect(entryText(entry('ticket_assigned', { assignee_id: 2 }))).toBe('Ticket assigned');
  expect(actorText(entry('ticket_assigned', { assignee_id: 2 }))).toBe('the operator');
  expect(actorText(entry('ticket_opened', {}))).toBe('the service');
});

test('an entry says what it is about and who did it', () => {
  const request = entry('api_request', { method: 'GET', status: 429, api_key_name: 'Grafana' });
  expect(detailsText(request)).toBe('GET /somewhere → 429');
  expect(actorText(request)).toBe('Grafana');
  const check = entry('health_check_completed', { connection_id: 3, score: 81 });
  expect(detailsText(check)).toBe('Connection 3, score 81');
  expect(actorText(check)).toBe('the service');
  const added = entry('connection_added', { name: 'shop', actor_member_id: 1, actor_name: 'Ada' });
  expect(detailsText(added)).toBe('shop');
  expect(actorText(added)).toBe('Ada');
  expect(detailsText(entry('member_signed_in', { name: 'Ada', by: 'password' }))).toBe('By password');
  expect(detailsText(entry('member_signed_in', { name: 'Ada' }))).toBe('Method unknown');
  expect(actorText(entry('member_signed_in', { name: 'Ada' }, '/sign-in'))).toBe('Ada');
  expect(actorText(entry('member_changed', { name: 'Ada', by: 'oidc' }, '/sign-in'))).toBe('Ada');
  expect(actorText(entry('member_added', { name: 'Ada' }, '/team'))).toBe('the operator');
  expect(actorText(entry('member_added', { name: 'Ada' }, '/link'))).toBe('the user of the link');
  expect(actorText(entry('link_used', { member_id: 1 }, '/link'))).toBe('the user of the link');
  const failed = entry(
    'member_sign_in_failed',
    { actor: 'unknown', name: 'Ada', source_ip: '192.0.2.7' },
    '/sign-in',
  );
  expect(actorText(failed)).toBe('unknown');
  expect(detailsText(failed)).toBe('Ada, from 192.0.2.7');
  // Written by an older version, which named only the member.
  expect(actorText(entry('member_sign_in_failed', { name: 'Ada' }, '/sign-in'))).toBe('unknown');
  expect(detailsText(entry('link_created', { purpose: 'owner', member_id: null }))).toBe('First owner');
  const worse = entry('ticket_escalated', { title: 'Locks', from: 'warning', to: 'critical' });
  expect([actionText(worse.action_type), detailsText(worse)]).toEqual([
    'Ticket escalated',
    'Locks: warning → critical',
  ]);
  expect(actorText(worse)).toBe('the service');
  const tried = entry('api_key_refused', { api_key_name: 'ci', source_ip: '203.0.113.9', attempts: 12 });
  expect([detailsText(tried), actorText(tried)]).toEqual(['ci, from 203.0.113.9, 12 times', 'unknown']);
  const told = entry('delivery_accepted', { destination: 'Pager', kind: 'alert.triggered' });
  expect([detailsText(told), actorText(told)]).toEqual(['Pager: Alert triggered', 'the service']);
  const alert = entry('alert_triggered', { rule_name: 'Disk', object: 'public.orders' });
  expect([detailsText(alert), actorText(alert)]).toEqual(['Disk: public.orders', 'the service']);
  const seen = entry('alert_acknowledged', { rule_name: 'Disk', actor_name: 'Ada' });
  expect([detailsText(seen), actorText(seen)]).toEqual(['Disk', 'Ada']);
  expect(actorText(entry('recipient_confirmed', {}))).toBe('the recipient');
  expect(detailsText(entry('something_new', {}))).toBe('/somewhere');
});

test('bidirectional control characters are escaped, and the JSON stays equal', () => {
  const turned = entry('connection_added', { name: 'safe \u202egnp.exe\u2066' });
  const json = entryJson(turned);
  expect(json).toContain('\\u202egnp.exe\\u2066');
  expect(JSON.parse(json)).toEqual(turned);
});
