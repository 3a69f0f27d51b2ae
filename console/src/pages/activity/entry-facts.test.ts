import { expect, test } from 'vitest';
import { entryFacts, fieldChanges, objectText } from './entry-facts.ts';

const entry = (action_type: string, properties: Record<string, unknown>) => ({
  id: 7,
  action_type,
  page_path: '/connections/3',
  properties,
  occurred_at: '2026-01-31T12:00:00.000Z',
});

test('a change is told field by field, down to the threshold that differs', () => {
  const changed = entry('connection_changed', {
    connection_id: 3,
    name: 'shop',
    changed: ['host', 'tls', 'ca_certificate', 'thresholds', 'query_texts', 'password'],
    from: {
      host: 'a',
      tls: 'require',
      ca_certificate: null,
      query_texts: false,
      thresholds: { PG_BLOAT: { ratio: 0.2, bytes: 5 } },
    },
    to: {
      host: 'b',
      tls: 'verify-full',
      ca_certificate: ['AB:CD', 'EF'],
      query_texts: true,
      thresholds: { PG_BLOAT: { ratio: 0.4, bytes: 5 }, PG_LOCKS: { seconds: 9 } },
    },
    actor_member_id: 1,
    actor_name: 'Ada',
  });
  expect(fieldChanges(changed)).toEqual([
    { field: 'Host', before: 'a', after: 'b' },
    { field: 'TLS', before: 'require', after: 'verify-full' },
    { field: 'Certificates of authorities', before: 'none', after: 'AB:CD, EF' },
    { field: 'Thresholds: PG_BLOAT: ratio', before: '0.2', after: '0.4' },
    { field: 'Thresholds: PG_LOCKS: seconds', before: 'none', after: '9' },
    { field: 'Texts of queries', before: 'no', after: 'yes' },
    // A secret: the log says only that it changed.
    { field: 'Password', before: null, after: null },
  ]);
  expect(entryFacts(changed)).toEqual([
    { name: 'Page', value: '/connections/3', object: null },
    { name: 'Connection', value: '3', object: 'connection:3' },
    { name: 'Name', value: 'shop', object: null },
    { name: 'Member who did it', value: '1', object: null },
    { name: 'Done by', value: 'Ada', object: null },
  ]);
});

test('of a changed key, the new values are compared with those before', () => {
  const changed = entry('api_key_changed', {
    api_key_id: 3,
    name: 'siem',
    scopes: ['activity'],
    allowed_addresses: null,
    before: { scopes: ['activity', 'health'], allowed_addresses: null },
  });
  expect(fieldChanges(changed)).toEqual([{ field: 'Scopes', before: 'activity, health', after: 'activity' }]);
  expect(entryFacts(changed).map(({ name }) => name)).toEqual(['Page', 'API key', 'Name']);
});

test('a threshold keeps the name that its documentation has', () => {
  const changed = entry('threshold_changed', {
    tag: '',
    changed: ['PG_DEAD_TUPLES.warning'],
    from: {},
    to: { 'PG_DEAD_TUPLES.warning': 0.3 },
  });
  expect(fieldChanges(changed)).toEqual([{ field: 'PG_DEAD_TUPLES.warning', before: 'none', after: '0.3' }]);
});

test('an escalated ticket, and an entry of an older version without values', () => {
  const ticket = entry('ticket_escalated', { ticket_id: 9, from: 'warning', to: 'critical' });
  expect(fieldChanges(ticket)).toEqual([{ field: 'Severity', before: 'warning', after: 'critical' }]);
  expect(entryFacts(ticket).map(({ name }) => name)).toEqual(['Page', 'Ticket']);
  expect(fieldChanges(entry('member_changed', { member_id: 1, changed: ['roles'] }))).toEqual([
    { field: 'Roles', before: null, after: null },
  ]);
  expect(fieldChanges(entry('silence_added', { from: 'x' }))).toEqual([]);
});

test('hostile text neither turns the text around it nor becomes a filter', () => {
  const hostile = entry('connection_added', {
    name: 'a\u202eb',
    connection_id: '3&x=1',
    'k\u202ey': { a: '\u0000' },
  });
  const shown = entryFacts(hostile).flatMap(({ name, value }) => [name, value]);
  expect(shown.filter((text) => /[\p{Cc}\p{Bidi_Control}]/u.test(text))).toEqual([]);
  expect(entryFacts(hostile).map(({ object }) => object)).toEqual([null, null, null, null]);
});

test('objects have a name', () => {
  expect(objectText('alert_rule:12')).toBe('Alert rule 12');
});
