import { expect, test } from 'vitest';
import { ACTION_TYPES } from './catalogue/catalogue.ts';
import { entryActor } from './entry-actor.ts';

const member = { actor_member_id: 3, actor_name: 'Ada', source_ip: '192.0.2.7', session_id: 9 };

test.each([
  [
    'api_request',
    { api_key_id: 1, api_key_name: 'grafana', status: 200 },
    'api_key 1 grafana',
    null,
    'success',
  ],
  ['api_request', { api_key_id: 1, api_key_name: null, status: 429 }, 'api_key 1 null', null, 'failure'],
  [
    'api_key_refused',
    { api_key_id: 2, api_key_name: 'old', reason: 'ended' },
    'api_key 2 old',
    'key 2 old',
    'failure',
  ],
  [
    'connection_changed',
    { ...member, connection_id: 4, name: 'orders' },
    'member 3 Ada',
    'connection 4 orders',
    'success',
  ],
  [
    'connection_changed',
    { connection_id: 4, name: 'orders' },
    'command_line null null',
    'connection 4 orders',
    'success',
  ],
  [
    'health_check_completed',
    { connection_id: 4, score: 1 },
    'service null null',
    'connection 4 null',
    'success',
  ],
  ['health_check_completed', { ...member, connection_id: 4 }, 'member 3 Ada', 'connection 4 null', 'success'],
  [
    'health_check_completed',
    { actor: 'command line', connection_id: 4 },
    'command_line null null',
    'connection 4 null',
    'success',
  ],
  ['ticket_opened', { ticket_id: 5, title: 'Bloat' }, 'service null null', 'ticket 5 Bloat', 'success'],
  ['alert_rule_changed', { ...member, rule_id: 6, name: 'r' }, 'member 3 Ada', 'alert_rule 6 r', 'success'],
  [
    'alert_triggered',
    { alert_id: 7, rule_id: 6, rule_name: 'r' },
    'service null null',
    'alert 7 r',
    'success',
  ],
  [
    'member_sign_in_failed',
    { actor: 'unknown', member_id: 3, name: 'Ada' },
    'unknown null null',
    'member 3 Ada',
    'failure',
  ],
  ['member_signed_in', { member_id: 3, name: 'Ada' }, 'member 3 Ada', 'member 3 Ada', 'success'],
  ['account_changed', {}, 'command_line null null', null, 'success'],
  ['kind_of_a_later_version', {}, 'command_line null null', null, 'success'],
])('%s %j', (type, properties, actor, target, outcome) => {
  const derived = entryActor(type, properties);
  const text = (of: typeof derived.target) => of && `${of.type} ${of.id} ${of.name}`;
  expect([text(derived.actor), text(derived.target), derived.outcome]).toEqual([actor, target, outcome]);
});

test('the source is where it came from', () => {
  const { source } = entryActor('connection_changed', member);
  expect(source).toEqual({ ip: '192.0.2.7', user_agent: null, session: 9 });
  expect(entryActor('ticket_opened', {}).source).toEqual({ ip: null, user_agent: null, session: null });
});

test('every action type has an actor and an outcome', () => {
  for (const type of ACTION_TYPES) {
    const { actor, outcome } = entryActor(type, { status: 200 });
    expect([actor.type, outcome]).toEqual([expect.any(String), expect.stringMatching(/^success$|^failure$/)]);
  }
});
