import { expect, test } from 'vitest';
import { ENTRY_OBJECTS } from '../../vocabulary/entry-objects.ts';
import { ACTION_TYPES, type ActionType, CATALOGUE } from '../catalogue/catalogue.ts';
import { exampleEntry } from '../catalogue/example-fixture.ts';
import { ecsProblems } from './ecs-fixture.ts';
import { entryProblems } from './entry-fixture.ts';
import { formatEntry } from './format.ts';
import { ocsfProblems } from './ocsf-fixture.ts';

test.each(ACTION_TYPES)('an entry of %s is valid in each format, with a name or without', (type) => {
  const entry = exampleEntry(type);
  const { properties } = entry;
  const nothing = Object.fromEntries(Object.keys(properties).map((name) => [name, null]));
  const nobody = {
    ...properties,
    actor_member_id: null,
    actor_name: null,
    source_ip: null,
    session_id: null,
  };
  expect(entryProblems(entry)).toEqual([]);
  for (const each of [entry, { ...entry, properties: nobody }, { ...entry, properties: nothing }]) {
    expect(ocsfProblems(formatEntry('ocsf', each, 3))).toEqual([]);
    expect(ecsProblems(formatEntry('ecs', each, null))).toEqual([]);
  }
});

test.each(ACTION_TYPES)('%s names its target by a property that it has', (type) => {
  const { target, targetName, properties } = CATALOGUE[type];
  const names = Object.keys(properties.properties);
  if (target !== null) expect(names).toContain(ENTRY_OBJECTS[target]);
  if (targetName !== null) expect(names).toContain(targetName);
});

test('every kind about a connection has its name, except a health check, whose properties the contract fixes', () => {
  const unnamed = ACTION_TYPES.filter((type) => {
    const { target, targetName } = CATALOGUE[type];
    return target === 'connection' && targetName === null;
  });
  expect(unnamed).toEqual(['health_check_completed']);
});

test('an entry of a later version is an event too', () => {
  const entry = { ...exampleEntry('account_changed'), action_type: 'thing_refused', properties: { a: [1] } };
  expect(ocsfProblems(formatEntry('ocsf', entry, 1))).toEqual([]);
  expect(ecsProblems(formatEntry('ecs', entry, 1))).toEqual([]);
  expect(formatEntry('ecs', entry, 1)).toMatchObject({ event: { outcome: 'failure' } });
});

test('a failed sign-in is a failed logon of the member, by nobody known', () => {
  const entry = exampleEntry('member_sign_in_failed');
  expect(formatEntry('ocsf', entry, 3)).toMatchObject({
    class_uid: 3002,
    activity_id: 1,
    status_id: 2,
    severity_id: 3,
    user: { uid: '3', name: 'Ada' },
    actor: { user: { name: 'unknown', type_id: 0 } },
    src_endpoint: { ip: '192.0.2.7' },
    metadata: { uid: '3-41', sequence: 41 },
  });
  expect(formatEntry('ecs', entry, 3)).toMatchObject({
    event: { category: ['authentication'], type: ['start'], outcome: 'failure', id: '3-41' },
    user: { id: '3', name: 'Ada' },
    source: { ip: '192.0.2.7' },
  });
});

// What the schemas do not have is found, or "valid" would mean nothing.
test.each<[change: string, type: ActionType, fields: object, problem: string]>([
  ['an attribute of another class', 'member_changed', { api: { operation: 'x' } }, 'api is no attribute'],
  ['an attribute of an object', 'member_changed', { user: { id: 3, name: 'A' } }, 'user.id is no attribute'],
  ['a number for a text', 'member_changed', { user: { uid: 3 } }, 'user.uid is no string'],
  ['a text for a number', 'member_changed', { time: '2026-03-02' }, 'time is no integer'],
  ['a name for an address', 'member_changed', { src_endpoint: { ip: 'a' } }, 'src_endpoint.ip is no ip'],
  ['a value of no enumeration', 'member_changed', { severity_id: 7 }, 'severity_id is not of its'],
  ['another caption', 'member_changed', { severity: 'Info' }, 'severity is not the caption Low'],
  ['another type', 'member_changed', { type_uid: 300101 }, 'type_uid is not class and activity'],
  ['a method', 'api_request', { http_request: { http_method: 'PATCH' } }, 'http_method is not of its'],
  ['a later attribute', 'api_request', { http_response: { code: 200 } }, 'http_response is no attribute'],
  ['no profile', 'activity_exported', { metadata: { product: {} } }, 'actor needs the profile host'],
  ['nobody', 'member_changed', { user: { type_id: 0, type: 'Unknown' } }, 'has none of account,name,uid'],
])('the judge of OCSF refuses %s', (_change, type, fields, problem) => {
  const event = { ...formatEntry('ocsf', exampleEntry(type), 3), ...fields };
  expect(ocsfProblems(event).join('\n')).toContain(problem);
});

test.each<[change: string, fields: object, problem: string]>([
  ['a field', { user: { identifier: '3' } }, 'user.identifier is no field'],
  ['a list for a text', { message: ['a'] }, 'message is a list'],
  ['a text for a list', { related: { user: 'Ada' } }, 'related.user is no list'],
  ['a number for a keyword', { user: { id: 3 } }, 'user.id is no keyword'],
  ['a text for a number', { event: { severity: '1' } }, 'event.severity is no long'],
  ['a name for an address', { source: { ip: 'a' } }, 'source.ip is no ip'],
  ['a category', { event: { category: ['logs'], type: ['info'] } }, 'logs is no value of event.category'],
  [
    'a type of another category',
    { event: { category: ['iam'], type: ['start'] } },
    'start is no type of iam',
  ],
  ['no event', { event: {} }, 'event.id is required'],
])('the judge of ECS refuses %s', (_change, fields, problem) => {
  const document = { ...formatEntry('ecs', exampleEntry('member_changed'), 3), ...fields };
  expect(ecsProblems(document).join('\n')).toContain(problem);
});

test.each(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'get'])(
  'a request by %s is an event',
  (method) => {
    const entry = exampleEntry('api_request');
    const refused = { ...entry, properties: { ...entry.properties, method, status: 405 } };
    expect(ocsfProblems(formatEntry('ocsf', refused, 3))).toEqual([]);
    expect(ecsProblems(formatEntry('ecs', refused, 3))).toEqual([]);
    expect(formatEntry('ocsf', refused, 3)).toMatchObject({
      api: { operation: `${method} ${entry.page_path}` },
    });
  },
);

test.each([
  [200, 'Success', 1, ['access'], 'success'],
  [403, 'Failure', 2, ['access', 'denied'], 'failure'],
  [429, 'Failure', 2, ['access'], 'failure'],
  [500, 'Failure', 3, ['access'], 'failure'],
])('a request that was answered %i', (status, ocsf, severity_id, type, outcome) => {
  const entry = exampleEntry('api_request');
  const answered = { ...entry, properties: { ...entry.properties, status } };
  expect(formatEntry('ocsf', answered, 1)).toMatchObject({ class_uid: 6003, status: ocsf, severity_id });
  expect(formatEntry('ecs', answered, 1)).toMatchObject({ event: { type, outcome } });
});

test('events keep what the schemas do not know, and hostile names stay values', () => {
  const entry = exampleEntry('member_changed');
  const hostile = { ...entry.properties, name: '{"class_uid":1}\n<script>', __proto__: null };
  const event = formatEntry('ocsf', { ...entry, properties: hostile }, 1);
  expect(event).toMatchObject({
    class_uid: 3001,
    user: { name: hostile.name },
    unmapped: { email: 'ada@example.com' },
  });
});
