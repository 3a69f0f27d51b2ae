import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DestinationSecrets, MessageEvent } from '../../src/notifications/channels/channel.ts';
import {
  CONTEXT,
  exampleAlert,
  exampleDestination,
  exampleEvent,
  RESOLVED_ALERT,
  TEST_EVENT,
} from '../../src/notifications/channels/message-event-fixture.ts';
import { LocalReceiver } from './local-receiver.ts';
import { sendEvents, startTestSender } from './send.ts';
import { problemsOf, VENDOR_NAMES, type Vendor } from './vendor-schemas.ts';

// These vendors have no program that runs here: a receiver judges each body by what they document, as vendor-schemas.ts cites.
const ROUTING_KEY = 'r'.repeat(32);
const sender = startTestSender();
let receiver: LocalReceiver;

beforeAll(async () => {
  receiver = await LocalReceiver.start(({ path, body }) => {
    const problems = problemsOf(path.slice(1) as Vendor, body);
    return problems.length === 0 ? { status: 200, body: 'ok' } : { status: 400, body: problems.join('\n') };
  });
});

afterAll(async () => {
  await sender.stop();
  await receiver.stop();
});

/** Sends events, and returns what the vendor got. */
async function delivered(vendor: Vendor, events: readonly MessageEvent[]): Promise<string> {
  const secrets: DestinationSecrets = {
    url: `${receiver.url}/${vendor}`,
    ...(vendor === 'pagerduty' && { routingKey: ROUTING_KEY }),
  };
  const destination = exampleDestination({ channel: vendor, secrets });
  expect(await sendEvents(sender, destination, events, CONTEXT)).toMatchObject({
    accepted: true,
    response: 'ok',
  });
  const { body, headers } = await receiver.next(({ path }) => path === `/${vendor}`);
  expect(headers['content-type']).toBe('application/json');
  return body;
}

test.each(VENDOR_NAMES)('%s takes every kind of event, and a group where it groups', async (vendor) => {
  const reminder = exampleAlert({ details: { is_reminder: true } });
  const events = [exampleEvent(), exampleAlert(), RESOLVED_ALERT, TEST_EVENT, reminder];
  for (const event of events) await delivered(vendor, [event]);
  if (vendor === 'pagerduty') return;
  const many = Array.from({ length: 120 }, (_, id) => exampleEvent({ event_id: `evt_${id}`, ticket_id: id }));
  const body = await delivered(vendor, [...many, exampleAlert(), RESOLVED_ALERT]);
  expect(body).toContain(', and 121 more');
  expect(body).toMatch(/… and \d+ more events/);
  expect(body.indexOf('Critical alert on orders')).toBeLessThan(body.indexOf('Warning on orders'));
});

test.each(VENDOR_NAMES)('%s shows what the event is about', async (vendor) => {
  // Zero-width spaces and backslashes are how texts are escaped.
  const shown = (await delivered(vendor, [exampleEvent()])).replaceAll(/\u200b|\\\\/g, '');
  for (const text of [
    'orders',
    'A table holds many dead rows',
    'public.orders',
    '31 %, at or above the threshold of 20 %',
    '2026-03-02 10:15:00 UTC',
    'Changed in the 24 hours before',
    'Setting work_mem: 4MB → 64MB',
    'VACUUM (ANALYZE) public.orders;',
    'https://dbvitals.example.com/tickets?status=all',
  ]) {
    expect(shown).toContain(text);
  }
});

test.each(VENDOR_NAMES)('%s: a test says that it is one', async (vendor) => {
  const body = await delivered(vendor, [TEST_EVENT]);
  expect(body).toContain('Test message from dbvitals');
  expect(body).toContain('This is a test. Nothing happened, and there is nothing to do.');
});

test.each(VENDOR_NAMES)(
  '%s: an end says why, and is not called resolved when nothing was',
  async (vendor) => {
    const ended = (resolution: string) =>
      delivered(vendor, [exampleAlert({ kind: 'alert.resolved', details: { resolution } })]);
    expect(await ended('the condition no longer holds')).toContain('Alert resolved on orders');
    for (const reason of [
      'a member silenced its finding',
      'the connection was removed',
      'the rule was disabled',
    ]) {
      const body = await ended(reason);
      expect(body).toContain('Alert closed on orders');
      expect(body).not.toContain('Alert resolved');
      expect(body).toContain(reason);
    }
  },
);

test('PagerDuty: the end of an alert closes the incident of its begin, and the key is not stored', async () => {
  const [begin, end] = [
    await delivered('pagerduty', [exampleAlert()]),
    await delivered('pagerduty', [RESOLVED_ALERT]),
  ];
  expect(JSON.parse(begin)).toMatchObject({
    routing_key: ROUTING_KEY,
    event_action: 'trigger',
    dedup_key: 'dbvitals.example.com/alert/7',
    payload: { severity: 'critical', source: 'orders', summary: 'Critical alert on orders: Score below 50' },
  });
  expect(JSON.parse(end)).toMatchObject({
    event_action: 'resolve',
    dedup_key: 'dbvitals.example.com/alert/7',
  });
});
