import { expect, test } from 'vitest';
import { ENTRY_OBJECTS } from '../../vocabulary/entry-objects.ts';
import { ACTION_TYPES, CATALOGUE } from '../catalogue/catalogue.ts';
import { exampleEntry } from '../catalogue/example-fixture.ts';
import { formatEntry } from './format.ts';
import { ecsProblems, entryProblems, ocsfProblems } from './published-fixture.ts';

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
