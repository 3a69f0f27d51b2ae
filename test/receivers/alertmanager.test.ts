import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MessageEvent } from '../../src/notifications/channels/channel.ts';
import {
  CONTEXT,
  exampleAlert,
  exampleDestination,
  exampleEvent,
  TEST_EVENT,
} from '../../src/notifications/channels/message-event-fixture.ts';
import { debianProgram, RunningProgram } from './debian-program.ts';
import { LocalReceiver } from './local-receiver.ts';
import { freePort } from './opensmtpd.ts';
import { sendEvents, startTestSender } from './send.ts';

/** A notification of Alertmanager's webhook, as far as it is read here. */
interface Notification {
  status: 'firing' | 'resolved';
  alerts: {
    status: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
    generatorURL: string;
  }[];
}

const folder = mkdtempSync(join(tmpdir(), 'dbvitals-alertmanager-'));
const sender = startTestSender();
let onCall: LocalReceiver;
let program: RunningProgram;
let url: string;

beforeAll(async () => {
  onCall = await LocalReceiver.start();
  const config = join(folder, 'alertmanager.yml');
  writeFileSync(
    config,
    `route:
  receiver: on-call
  group_by: [connection_id, job]
  group_wait: 1s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: on-call
    webhook_configs: [{ url: '${onCall.url}/page', send_resolved: true }]
`,
  );
  url = `http://127.0.0.1:${await freePort()}`;
  program = new RunningProgram(debianProgram('prometheus-alertmanager', 'prometheus-alertmanager'), [
    `--config.file=${config}`,
    `--storage.path=${folder}`,
    `--web.listen-address=${url.slice('http://'.length)}`,
    '--cluster.listen-address=',
  ]);
  await program.ready(async () => (await fetch(`${url}/-/ready`)).ok);
});

afterAll(async () => {
  await sender.stop();
  await program?.stop();
  await onCall?.stop();
  rmSync(folder, { recursive: true });
});

function send(...events: MessageEvent[]) {
  return Promise.all(
    events.map((event) =>
      sendEvents(sender, exampleDestination({ channel: 'alertmanager', secrets: { url } }), [event], CONTEXT),
    ),
  );
}

/** The next page of a connection. */
async function paged(connectionId: number): Promise<Notification> {
  const { body } = await onCall.next((request) => request.body.includes(`"connection_id":"${connectionId}"`));
  return JSON.parse(body);
}

/** The ids of the alerts that are firing, as Alertmanager answers. */
async function firing(): Promise<string[]> {
  const response = await fetch(`${url}/api/v2/alerts?active=true`);
  const alerts = (await response.json()) as { labels: Record<string, string> }[];
  return alerts.map(({ labels }) => `${labels['dbvitals_id']} ${labels['severity']}`);
}

const now = () => new Date();
const since = new Date(Date.now() - 60_000).toISOString();

test('an alert is received, notified onward with its texts, and resolved', async () => {
  const alert = exampleAlert({ connection_id: 10, occurred_at: now(), details: { since } });
  expect(await send(alert)).toMatchObject([{ accepted: true, status: 200 }]);
  const page = await paged(10);
  expect(page.status).toBe('firing');
  expect(page.alerts).toHaveLength(1);
  expect(page.alerts[0]).toMatchObject({
    status: 'firing',
    labels: {
      alertname: 'dbvitals_score',
      job: 'dbvitals',
      kind: 'alert',
      severity: 'critical',
      dbvitals_id: 'dbvitals.example.com/alert/7',
    },
    annotations: {
      summary: 'Critical alert on orders: Score below 50',
      account: 'Acme',
      description: expect.stringContaining('Score: 41, below the threshold of 50'),
    },
    generatorURL: 'https://dbvitals.example.com/alerts?alert=7',
  });
  expect(await firing()).toContain('dbvitals.example.com/alert/7 critical');

  await send(
    exampleAlert({ kind: 'alert.resolved', connection_id: 10, occurred_at: now(), details: { since } }),
  );
  const end = await paged(10);
  expect(end.status).toBe('resolved');
  expect(end.alerts.map(({ labels }) => labels['severity'])).toEqual(['critical']);
  expect(await firing()).not.toContain('dbvitals.example.com/alert/7 critical');
});

test('alerts of one connection come in one page, because Alertmanager groups', async () => {
  const ids = [101, 102, 103, 104];
  const details = { since: now().toISOString() };
  const tickets = ids.map((ticket_id) =>
    exampleEvent({
      event_id: `evt_${ticket_id}`,
      connection_id: 11,
      ticket_id,
      occurred_at: now(),
      details,
    }),
  );
  await send(...tickets);
  const page = await paged(11);
  expect(page.alerts.map(({ labels }) => labels['dbvitals_id']).toSorted()).toEqual(
    ids.map((id) => `dbvitals.example.com/ticket/${id}`),
  );
  expect(new Set(page.alerts.map(({ labels }) => labels['alertname']))).toEqual(new Set(['PG_DEAD_TUPLES']));
});

test('a ticket that becomes critical replaces its warning, and its end ends both', async () => {
  const ticket = { connection_id: 12, ticket_id: 200, details: { since } };
  await send(exampleEvent({ ...ticket, occurred_at: now() }));
  await paged(12);
  await send(
    exampleEvent({ ...ticket, kind: 'ops.ticket_escalated', severity: 'critical', occurred_at: now() }),
  );
  await expect.poll(firing).toContain('dbvitals.example.com/ticket/200 critical');
  expect(await firing()).not.toContain('dbvitals.example.com/ticket/200 warning');
  // It was info when it was resolved: nobody was told of that change.
  await send(exampleEvent({ ...ticket, kind: 'ops.ticket_resolved', severity: 'info', occurred_at: now() }));
  await expect.poll(async () => (await firing()).filter((id) => id.includes('ticket/200'))).toEqual([]);
});

test('an open alert stays without being sent again: Alertmanager is told when it ends', async () => {
  const alert = exampleAlert({ alert_id: 300, connection_id: 13, occurred_at: now(), details: { since } });
  await send(alert);
  await paged(13);
  const response = await fetch(`${url}/api/v2/alerts?filter=dbvitals_id="dbvitals.example.com/alert/300"`);
  const [stored] = (await response.json()) as { endsAt: string }[];
  expect(Date.parse(stored?.endsAt ?? '')).toBeGreaterThan(Date.now() + 300 * 86_400_000);
});

test('a test says that it is one, and ends by itself', async () => {
  await send({ ...TEST_EVENT, connection_id: 14, occurred_at: now() });
  const page = await paged(14);
  expect(page.alerts[0]?.annotations['summary']).toBe('Test message from dbvitals');
  expect(page.alerts[0]?.annotations['description']).toContain('This is a test. Nothing happened');
});

test('hostile names are labels and annotations as they are, and nothing else', async () => {
  const name = '{{ template "x" }}", severity="critical\u202e<!channel>\n\0ä🐘';
  const event = exampleEvent({
    event_id: 'evt_h',
    connection_id: 15,
    ticket_id: 400,
    occurred_at: now(),
    details: { since, object: name, title: name, check_id: name },
  });
  expect(await send(event)).toMatchObject([{ accepted: true }]);
  const page = await paged(15);
  expect(page.alerts[0]?.labels['severity']).toBe('warning');
  expect(page.alerts[0]?.labels['alertname']).toBe('{{ template "x" }}", severity="critical <!channel> ä🐘');
});
