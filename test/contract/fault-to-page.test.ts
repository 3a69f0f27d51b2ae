import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { type Browser, openBrowser } from './browser.ts';
import { events, expectSchema } from './openapi-assertions.ts';
import { embeddedUrl, runJson, type Service, startService, temporaryFolder } from './running-service.ts';

// From a fault of a real PostgreSQL to a verified page, and back; then the sealed log proves each delivery.

interface Received {
  id: string;
  body: string;
  headers: Record<string, string>;
  event: { event: string; data: Record<string, unknown> };
}

interface Entry {
  action_type: string;
  properties: Record<string, unknown>;
}

const folder = temporaryFolder();
const environment = { DBVITALS_DATA_DIR: folder.path, DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes' };
const received: Received[] = [];
const receiver = http.createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.once('end', () => {
    const body = Buffer.concat(parts).toString();
    const headers = request.headers as Record<string, string>;
    received.push({ id: headers['webhook-id'] ?? '', body, headers, event: JSON.parse(body) });
    response.writeHead(204).end();
  });
});

let service: Service;
let database: pg.Client;
let member: Browser;

beforeAll(async () => {
  service = await startService(environment, ['--no-monitor']);
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  database = new pg.Client({ connectionString: embeddedUrl(folder.path)['DATABASE_URL'] });
  await database.connect();
  const account = ['--account', '1'];
  const who = ['--name', 'Ada', '--email', 'ada@example.com', '--role', 'owner'];
  const { id } = await runJson<{ id: number }>(['member', 'add', ...account, ...who], environment);
  const { link } = await runJson<{ link: string }>(
    ['member', 'link', ...account, '--member', String(id)],
    environment,
  );
  member = openBrowser({ origin: service.origin });
  await member.change('POST', `/link/${link.split('/').at(-1)}`, {
    password: 'a long and quiet pass phrase',
  });
});

afterAll(async () => {
  await database?.end();
  await service?.stop();
  receiver.close();
  folder.remove();
});

const check = () => runJson<{ score: number }>(['check', 'run', '--connection', '1'], environment);

/** The first event of a kind that is meant, once it arrived. */
function arrives(kind: string, isMeant: (data: Record<string, unknown>) => boolean): Promise<Received> {
  return waitFor(() => {
    const found = received.find(({ event }) => event.event === kind && isMeant(event.data));
    if (found) return found;
    const others = received.map(({ event }) => event.event).join(', ');
    throw new Error(`No ${kind} arrived, but ${others || 'nothing'}.`);
  });
}

test('a fault is provoked, told, acknowledged, mended and told; the sealed log proves it', async () => {
  const { port } = receiver.address() as AddressInfo;
  const { destination, signing_secret } = await member.change<{
    destination: { id: number };
    signing_secret: string;
  }>('POST', '/destinations', {
    name: 'Pager',
    channel: 'webhook',
    url: `http://127.0.0.1:${port}/hook`,
    kinds: events.map(({ kind }) => kind).filter((kind) => kind !== 'test'),
  });
  await member.change('POST', `/destinations/${destination.id}/test`);
  const rule = await member.change<{ id: number }>('POST', '/alert-rules', {
    name: 'A sequence is nearly used up',
    metric: 'measure',
    severity: 'critical',
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    measure: 'sequence_used_ratio',
    operator: '>=',
    threshold: 0.9,
    clear_threshold: 0.5,
    for_seconds: 0,
    for_runs: 1,
    connections: { ids: null, names: null },
    destination_ids: null,
    reminder_seconds: null,
    is_enabled: true,
  });
  await check();
  expect((await member.get<{ items: unknown[] }>('/alerts?state=open')).items).toEqual([]);

  await database.query('create sequence page_numbers as integer maxvalue 1000');
  await database.query(`select setval('page_numbers', 950)`);
  await check();
  const triggered = await arrives('alert.triggered', () => true);
  expect(triggered.event.data).toMatchObject({
    connection: { id: 1, name: 'dbvitals store' },
    metric: 'sequence_used_ratio',
    operator: '>=',
    threshold: 0.9,
    value: 0.95,
  });
  const isOfSequence = ({ check_id, title }: Record<string, unknown>) =>
    check_id === 'PG_SEQUENCE_EXHAUSTION' || /sequence/i.test(String(title));
  const created = await arrives('ops.ticket_created', isOfSequence);

  const [alert] = (await member.get<{ items: { id: number; rule_id: number }[] }>('/alerts?state=open'))
    .items;
  expect(alert).toMatchObject({ id: triggered.event.data['alert_id'], rule_id: rule.id });
  await member.change('POST', `/alerts/${alert?.id}/acknowledge`, { until: null, note: 'I am on it.' });

  await database.query(`alter sequence page_numbers maxvalue 1000000`);
  await check();
  const resolved = await arrives('alert.resolved', () => true);
  expect(resolved.event.data).toMatchObject({
    ...triggered.event.data,
    resolved_at: expect.stringMatching(/Z$/),
  });
  const ended = await arrives(
    'ops.ticket_resolved',
    ({ ticket_id }) => ticket_id === created.event.data['ticket_id'],
  );

  // Each delivery is what the document says, signed, numbered without a gap, and sent once.
  for (const { event } of received)
    expectSchema(events.find(({ kind }) => kind === event.event)?.schema ?? {}, event, event.event);
  const logged = received.filter(({ event }) => /^(?:ops|alert)\./.test(event.event));
  const verifier = new Webhook(signing_secret);
  for (const { body, headers } of received) expect(verifier.verify(body, headers)).toEqual(JSON.parse(body));
  expect(new Set(received.map(({ id }) => id)).size).toBe(received.length);
  const numbers = received.map(({ headers }) => Number(headers['dbvitals-sequence'])).sort((a, b) => a - b);
  expect(numbers).toEqual(received.map((_, n) => n + 1));

  // The log names the destination, the event and the digest of what was sent; the seal holds it.
  const { entries, proof } = await waitFor(async () => {
    const entries = await log();
    const proof = accepted(entries);
    expect(proof).toHaveLength(logged.length);
    return { entries, proof };
  });
  for (const { id, body, event } of [triggered, created, resolved, ended]) {
    expect(proof).toContainEqual(
      expect.objectContaining({
        destination_id: destination.id,
        destination: 'Pager',
        event_id: id,
        kind: event.event,
        status: 204,
        attempts: 1,
        body_sha256: createHash('sha256').update(body).digest('hex'),
      }),
    );
  }
  expect(entries.map(({ action_type }) => action_type)).toEqual(
    expect.arrayContaining(['alert_triggered', 'ticket_opened', 'alert_acknowledged', 'alert_resolved']),
  );
  await runJson(['activity', 'seal', '--account', '1'], environment);
  const verdict = await runJson<object>(['activity', 'verify', '--account', '1', '--strict'], environment);
  expect(verdict).toMatchObject({ verified: true, unsealed: 0, late: [] });
});

function accepted(entries: readonly Entry[]): Record<string, unknown>[] {
  return entries
    .filter(({ action_type }) => action_type === 'delivery_accepted')
    .map(({ properties }) => properties);
}

async function log(): Promise<Entry[]> {
  const { data } = await member.get<{ data: Entry[] }>('/read/activity?per_page=100');
  return data;
}
