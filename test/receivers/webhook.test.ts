import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENT_EXAMPLES } from '../../src/api/openapi/event-examples.ts';
import type { SigningSecret } from '../../src/notifications/channels/channel.ts';
import {
  CONTEXT,
  exampleDestination,
  exampleEvent,
} from '../../src/notifications/channels/message-event-fixture.ts';
import { newSigningKey, newSigningSecret, publicKeyOf } from '../../src/notifications/channels/sign.ts';
import { LocalReceiver, type Received } from './local-receiver.ts';
import { sendEvents, startTestSender } from './send.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/notifications/webhooks.md');
const folder = mkdtempSync(join(tmpdir(), 'dbvitals-webhook-'));
const sender = startTestSender();
let receiver: LocalReceiver;

beforeAll(async () => {
  receiver = await LocalReceiver.start();
});

afterAll(async () => {
  await sender.stop();
  await receiver.stop();
  rmSync(folder, { recursive: true });
});

const always = (secret: string): SigningSecret => ({ secret, until: null });

/** Sends a body to a webhook with these secrets, and returns what came. */
async function delivered(
  signing: readonly SigningSecret[],
  body: string,
  eventId = 'evt_1',
): Promise<Received> {
  const destination = exampleDestination({ secrets: { url: `${receiver.url}/dbvitals`, signing } });
  const sent = await sendEvents(sender, destination, [exampleEvent({ event_id: eventId, body })], CONTEXT);
  expect(sent).toMatchObject({ accepted: true, status: 200 });
  return await receiver.next(({ headers }) => headers['webhook-id'] === eventId);
}

function verify(secret: string, { body, headers }: Received): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

test.each(Object.entries(EVENT_EXAMPLES))(
  'standardwebhooks verifies %s, byte for byte',
  async (kind, example) => {
    const secret = newSigningSecret();
    const body = JSON.stringify(example);
    const received = await delivered([always(secret)], body, `evt_${kind}`);
    expect(received).toMatchObject({ method: 'POST', path: '/dbvitals', body });
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': `evt_${kind}`,
      'dbvitals-sequence': expect.stringMatching(/^[1-9][0-9]*$/),
      'dbvitals-sequence-epoch': 'epoch-1',
      'user-agent': expect.stringMatching(/^dbvitals\/\d/),
    });
    expect(verify(secret, received)).toEqual(example);
    expect(() => verify(newSigningSecret(), received)).toThrow('No matching signature');
  },
);

test('during a rotation both secrets verify; after it only the new one', async () => {
  const [fresh, old] = [newSigningSecret(), newSigningSecret()];
  const ends = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
  const during = await delivered(
    [always(fresh), { secret: old, until: ends(86_400) }],
    '{"a":"ä 🐘"}',
    'evt_during',
  );
  expect(verify(fresh, during)).toEqual({ a: 'ä 🐘' });
  expect(verify(old, during)).toEqual({ a: 'ä 🐘' });
  const after = await delivered([always(fresh), { secret: old, until: ends(-1) }], '{"a":1}', 'evt_after');
  expect(verify(fresh, after)).toEqual({ a: 1 });
  expect(() => verify(old, after)).toThrow('No matching signature');
});

/** The commands of the first shell block after a heading of the documentation. */
function documented(heading: string): string {
  const section = readFileSync(DOCUMENT, 'utf8').split(`## ${heading}\n`)[1] ?? '';
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  expect(block, `"${heading}" of ${DOCUMENT} has commands`).not.toBe('');
  return block;
}

/** Runs commands of the documentation as they stand there, on a delivery. */
function run(commands: string, { body, headers }: Received, secret: string): string {
  writeFileSync(join(folder, 'body.json'), body);
  const env = {
    ...process.env,
    SECRET: secret,
    ID: String(headers['webhook-id']),
    TIMESTAMP: String(headers['webhook-timestamp']),
    SIGNATURE: String(headers['webhook-signature']),
  };
  return execFileSync('sh', ['-c', commands], { cwd: folder, env, encoding: 'utf8' });
}

test('the openssl line of the documentation verifies a delivery', async () => {
  const [fresh, old] = [newSigningSecret(), newSigningSecret()];
  const until = new Date(Date.now() + 60_000).toISOString();
  const received = await delivered(
    [always(fresh), { secret: old, until }],
    '{"text":"ä 🐘\\n"}',
    'evt_openssl',
  );
  const commands = documented('Verify with openssl');
  for (const secret of [fresh, old]) expect(run(commands, received, secret)).toBe('verified\n');
  expect(run(commands, received, newSigningSecret())).toBe('NOT verified\n');
  expect(run(commands, { ...received, body: `${received.body} ` }, fresh)).toBe('NOT verified\n');
});

test('the openssl lines of the documentation verify an Ed25519 signature', async () => {
  const secret = newSigningKey();
  const received = await delivered([always(secret)], '{"text":"ä"}', 'evt_ed25519');
  const commands = documented('Verify Ed25519 with openssl');
  expect(run(commands, received, publicKeyOf(secret) ?? '')).toContain('Signature Verified Successfully');
  const other = publicKeyOf(newSigningKey()) ?? '';
  expect(() => run(commands, received, other)).toThrow();
});
