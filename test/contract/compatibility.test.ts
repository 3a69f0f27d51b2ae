import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { lostPromises } from './api-compatibility.ts';
import { ask } from './ask.ts';
import type { Json } from './openapi-assertions.ts';

// The v1 that callers rely on. It is replaced by a document that only adds to it, and by no other.
const FROZEN = readFileSync(new URL('openapi-v1.frozen.json', import.meta.url), 'utf8');

/** The frozen document after a change of the part that the path leads to. */
function changed(path: string[], change: (part: Json) => void): Json {
  const document = JSON.parse(FROZEN) as Json;
  const part = path.reduce<Json>((value, step) => {
    const below = value[step];
    if (typeof below !== 'object' || below === null) throw new Error(`there is no ${step} in ${path}`);
    return below as Json;
  }, document);
  change(part);
  return document;
}

test('the API is compatible with the frozen v1 document', async () => {
  expect(lostPromises(JSON.parse(FROZEN), (await ask('/openapi.json')).json<Json>())).toEqual([]);
});

const TICKETS = ['paths', '/api/v1/ops/tickets', 'get'];
const [STATUS, , CONNECTION_ID, FROM, , , PER_PAGE] = ['0', '1', '2', '3', '4', '5', '6'];
const TICKET = ['components', 'schemas', 'Ticket'];
const FIELDS = [...TICKET, 'properties'];
const parameter = (at = '') => [...TICKETS, 'parameters', at];

const BREAKS: [told: string, path: string[], change: (part: Json) => void, found: string | RegExp][] = [
  [
    'a path is gone',
    ['paths'],
    (paths) => delete paths['/api/v1/team/roles'],
    'paths./api/v1/team/roles: gone',
  ],
  ['an operation is gone', TICKETS.slice(0, 2), (path) => delete path['get'], /tickets\.get: gone/],
  ['an operation is renamed', TICKETS, (get) => set(get, 'operationId', 'tickets'), /operationId/],
  ['an operation needs other rights', TICKETS, (get) => set(get, 'security', [{ other: [] }]), /security/],
  ['a parameter is gone', [...TICKETS, 'parameters'], (all) => remove(all, 0), /status in query: gone/],
  [
    'a parameter became required',
    parameter(STATUS),
    (one) => set(one, 'required', true),
    /status in query is now required/,
  ],
  [
    'a new parameter is required',
    [...TICKETS, 'parameters'],
    (all) => set(all, '99', { name: 'team', in: 'query', required: true, schema: {} }),
    /team in query is now required/,
  ],
  [
    'a value can no longer be sent',
    [...parameter(STATUS), 'schema'],
    (one) => set(one, 'enum', ['open']),
    /resolved is gone/,
  ],
  [
    'a parameter has another type',
    [...parameter(CONNECTION_ID), 'schema'],
    (one) => set(one, 'type', 'string'),
    /type/,
  ],
  [
    'a parameter has another pattern',
    [...parameter(FROM), 'schema'],
    (one) => set(one, 'pattern', '^x$'),
    /pattern/,
  ],
  [
    'a parameter may be less',
    [...parameter(PER_PAGE), 'schema'],
    (one) => set(one, 'maximum', 50),
    /maximum: 100 became 50/,
  ],
  [
    'a parameter must be more',
    [...parameter(PER_PAGE), 'schema'],
    (one) => set(one, 'minimum', 2),
    /minimum: 1 became 2/,
  ],
  ['a default is another', [...parameter(PER_PAGE), 'schema'], (one) => set(one, 'default', 20), /default/],
  ['a status is gone', [...TICKETS, 'responses'], (all) => delete all['304'], /responses\.304: gone/],
  [
    'a header is gone',
    [...TICKETS, 'responses', '200', 'headers'],
    (all) => delete all['Link'],
    /headers\.Link: gone/,
  ],
  [
    'another media type',
    [...TICKETS, 'responses', '200', 'content'],
    (all) => rename(all, 'application/json', 'text/csv'),
    /gone/,
  ],
  ['a field is gone', FIELDS, (all) => delete all['title'], /title: gone/],
  ['a field may be absent', TICKET, (one) => set(one, 'required', ['id']), /no longer always there/],
  ['a field has another type', [...FIELDS, 'id'], (one) => set(one, 'type', 'string'), /id\.type/],
  ['a field may be null', [...FIELDS, 'title'], (one) => set(one, 'type', ['string', 'null']), /title\.type/],
  ['a field has another format', [...FIELDS, 'first_seen_at'], (one) => set(one, 'format', 'date'), /format/],
  [
    'a closed set grew',
    [...FIELDS, 'status'],
    (one) => set(one, 'enum', ['open', 'resolved', 'muted']),
    /muted is new/,
  ],
  [
    'a closed set was opened',
    [...FIELDS, 'status'],
    (one) => rename(one, 'enum', 'x-extensible-enum'),
    /opened or closed/,
  ],
  [
    'an open set lost a value',
    ['components', 'schemas', 'Connection', 'properties', 'connection_type'],
    (one) => set(one, 'x-extensible-enum', ['direct', 'unix_socket']),
    /ssh_tunnel is gone/,
  ],
  [
    'a score may be more',
    ['components', 'schemas', 'FleetEntry', 'properties', 'score'],
    (one) => set(one, 'maximum', 1000),
    /maximum/,
  ],
  [
    'an error code is gone',
    ['components', 'schemas', 'UnauthorizedBody', 'properties', 'error', 'properties', 'code'],
    (one) => set(one, 'enum', ['unauthorized']),
    /invalid_api_key is gone/,
  ],
  ['an event is gone', ['webhooks'], (all) => delete all['alert.resolved'], /alert\.resolved: gone/],
  [
    'an event has one field more',
    ['components', 'schemas', 'TicketCreatedEvent', 'properties', 'data', 'properties'],
    (all) => set(all, 'object', {}),
    /ops\.ticket_created/,
  ],
  [
    'the example of an event is another',
    ['webhooks', 'alert.triggered', 'post', 'requestBody', 'content', 'application/json', 'example'],
    (one) => set(one, 'event', 'x'),
    /alert\.triggered/,
  ],
  [
    'keys are sent otherwise',
    ['components', 'securitySchemes', 'apiKey'],
    (one) => set(one, 'scheme', 'basic'),
    /securitySchemes\.apiKey/,
  ],
];

describe('breaking changes are found', () => {
  test.each(BREAKS)('%s', (_, path, change, found) => {
    const all = lostPromises(JSON.parse(FROZEN), changed(path, change));
    expect(all.length).toBeGreaterThan(0);
    for (const one of all) expect(one).toMatch(found);
  });
});

const ADDITIONS: [told: string, path: string[], change: (part: Json) => void][] = [
  ['a path', ['paths'], (paths) => set(paths, '/api/v1/new', { get: {} })],
  [
    'an optional parameter',
    [...TICKETS, 'parameters'],
    (all) => set(all, '99', { name: 'category', in: 'query', schema: {} }),
  ],
  [
    'a value that can be sent',
    [...parameter(STATUS), 'schema'],
    (one) => set(one, 'enum', ['open', 'resolved', 'any']),
  ],
  ['a larger page', [...parameter(PER_PAGE), 'schema'], (one) => set(one, 'maximum', 1000)],
  ['a field', FIELDS, (all) => set(all, 'owner', { type: 'string' })],
  ['a header', [...TICKETS, 'responses', '200', 'headers'], (all) => set(all, 'Age', { schema: {} })],
  [
    'a value of an open set',
    ['components', 'schemas', 'Connection', 'properties', 'connection_type'],
    (one) => set(one, 'x-extensible-enum', ['direct', 'ssh_tunnel', 'unix_socket', 'proxy']),
  ],
  ['other words', TICKETS, (get) => set(get, 'description', 'Said better.')],
];

describe('additions are not breaking changes', () => {
  test.each(ADDITIONS)('%s', (_, path, change) => {
    const document = changed(path, change);
    expect(JSON.stringify(document)).not.toBe(JSON.stringify(JSON.parse(FROZEN)));
    expect(lostPromises(JSON.parse(FROZEN), document)).toEqual([]);
  });
});

function set(part: Json, name: string, value: unknown): void {
  if (Array.isArray(part) && name === '99') part.push(value);
  else part[name] = value;
}

function rename(part: Json, from: string, to: string): void {
  part[to] = part[from];
  delete part[from];
}

function remove(part: Json, at: number): void {
  if (Array.isArray(part)) part.splice(at, 1);
}
