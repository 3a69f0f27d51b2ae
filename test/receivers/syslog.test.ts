import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogBatch } from '../../src/notifications/channels/channel.ts';
import { FORMATS } from '../../src/notifications/channels/formats.ts';
import { exampleDestination } from '../../src/notifications/channels/message-event-fixture.ts';
import { startTestSender } from './send.ts';
import { SYSLOG_PROGRAMS, SyslogServer } from './syslog-server.ts';

/** Sends a batch as the dispatcher does, with the authorities of NODE_EXTRA_CA_CERTS. */
async function send(batch: LogBatch, host: string, port: number, authority: string) {
  const before = process.env['NODE_EXTRA_CA_CERTS'];
  process.env['NODE_EXTRA_CA_CERTS'] = join(import.meta.dirname, '../certificates', authority);
  const sender = startTestSender();
  try {
    const url = `syslog+tls://${host}:${port}`;
    const destination = exampleDestination({ channel: 'syslog', secrets: { url } });
    const { makeBatch, request } = FORMATS.syslog;
    const made = makeBatch?.(batch, {}) ?? { contentType: '', body: '' };
    const at = Math.floor(Date.now() / 1_000);
    return await sender.send(
      await request(destination, { ...made, eventId: 'log', epoch: 'e', sequence: 1, at, batch }),
    );
  } finally {
    await sender.stop();
    if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
    else process.env['NODE_EXTRA_CA_CERTS'] = before;
  }
}

/** A batch of entries whose texts are what breaks a framing: quotes, brackets, line ends as JSON writes them, and size. */
function batchOf(count: number): LogBatch {
  const texts = ['plain', '"]\\ [x y="z"]', 'line\nend\r\n<13>1 - - -', '…é\u{1f600}', 'x'.repeat(30_000)];
  const lines = Array.from({ length: count }, (_, n) => ({
    id: n + 1,
    at: '2026-11-28T04:00:00.123Z',
    actionType: 'member_sign_in_failed',
    severity: 'medium' as const,
    json: JSON.stringify({ id: n + 1, text: texts[n % texts.length] }),
  }));
  return { accountId: 7, firstId: 1, lastId: count, epoch: 'e1', seal: `1:${'0'.repeat(64)}`, lines };
}

/** The parameters of the structured data, in the order of their names: syslog-ng writes them so. */
const parameters = (data = '') =>
  [...data.matchAll(/ (\w+)="([^"]*)"/g)].map(([, name, value]) => `${name}=${value}`).toSorted();

describe.each(Object.entries(SYSLOG_PROGRAMS))('%s', (_name, program) => {
  let server: SyslogServer;

  beforeAll(async () => {
    server = await SyslogServer.start(program);
  });

  afterAll(() => server?.stop());

  test('reads each entry of a batch over TLS, whole and in order', async () => {
    const batch = batchOf(100);
    expect(await send(batch, 'localhost', server.port, 'authority.pem')).toMatchObject({
      accepted: true,
      result: `localhost:${server.port} read the messages and closed.`,
    });
    const messages = await server.messages(100);
    expect(messages.map(({ text }) => text?.trim())).toEqual(batch.lines.map(({ json }) => json));
    const [, second] = messages;
    expect(second).toMatchObject({
      priority: '108',
      messageId: 'member_sign_in_failed',
      data: expect.stringContaining('[dbvitals@32473 '),
    });
    expect(new Date(`${second?.['time']}`).toISOString()).toBe('2026-11-28T04:00:00.123Z');
    expect(parameters(second?.['data'])).toEqual([
      'account=7',
      'epoch=e1',
      'first=1',
      'id=2',
      'last=100',
      `seal=1:${'0'.repeat(64)}`,
    ]);
  });

  test.each([
    ['an authority that nobody named', 'localhost', 'receivers-authority.pem', /NODE_EXTRA_CA_CERTS/],
    ['another name', '127.0.0.1', 'authority.pem', /127\.0\.0\.1/],
  ])(
    'has a certificate of %s: it is rejected, and nothing is sent',
    async (_what, host, authority, sentence) => {
      expect(await send(batchOf(1), host, server.port, authority)).toMatchObject({
        accepted: false,
        result: expect.stringMatching(sentence),
      });
      expect(await server.messages(100)).toHaveLength(100);
    },
  );
});
