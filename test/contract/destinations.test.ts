import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command, commandJson } from './command.ts';
import { type Service, startProcess, startService, temporaryFolder } from './running-service.ts';

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

let service: Service;
let environment: Record<string, string>;
let receiver: Server;
let url: string;
let status = 204;
const received: Received[] = [];
const own = temporaryFolder();

beforeAll(async () => {
  environment = { DBVITALS_DATA_DIR: own.path, DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes' };
  service = await startService(environment, ['--no-monitor']);
  receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response
        .writeHead(status, { 'content-type': 'text/plain' })
        .end(status === 204 ? undefined : 'no such hook');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/unspoken-path?token=unspoken-token`;
});

afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await service.stop();
  own.remove();
});

const run = (args: string[], input?: string) =>
  command(args, { environment, ...(input !== undefined && { input }) });
const json = <T>(args: string[], input?: string) =>
  commandJson<T>(args, { environment, ...(input !== undefined && { input }) });

interface Added {
  id: number;
  target: string;
  signing_secret: string;
}

async function makeAccount(): Promise<string> {
  const words = ['account', 'create', '--name', 'Destinations', '--kind', 'company', '--plan', 'business'];
  return String((await json<{ id: number }>(words)).id);
}

const add = (account: string, name: string) =>
  json<Added>(
    ['destination', 'add', '--account', account, '--name', name, '--channel', 'webhook', '--url-stdin'],
    `${url}\n`,
  );

const verified = (secret: string, { headers, body }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

test('a webhook is added, tested, sent again, rotated and removed', async () => {
  const account = await makeAccount();
  const { id, target, signing_secret } = await add(account, 'Hooks');
  expect(target).toBe(new URL(url).origin);
  expect(signing_secret).toMatch(/^whsec_/);

  received.length = 0;
  const test = ['destination', 'test', String(id)];
  expect(await json(test)).toMatchObject({ accepted: true, status: 204 });
  expect(verified(signing_secret, received[0] as Received)).toMatchObject({
    event: 'test',
    api_version: 'v1',
  });
  expect(received[0]?.headers).toMatchObject({ 'dbvitals-sequence': '1' });

  status = 404;
  const failed = await run([...test, '--json']);
  expect(failed.exit).toBe(1);
  expect(JSON.parse(failed.stdout)).toMatchObject({ accepted: false, status: 404, response: 'no such hook' });
  status = 204;
  const deliveries = await json<{ id: number; state: string; event_id: string }[]>([
    'destination',
    'deliveries',
    String(id),
  ]);
  expect(deliveries.map(({ state }) => state)).toEqual(['given_up', 'accepted']);

  const rotated = await json<{ signing_secret: string }>(['destination', 'rotate-secret', String(id)]);
  received.length = 0;
  expect(await json(['destination', 'resend', String(id), '--from', '1h'])).toEqual({ queued: 1 });
  await expect.poll(() => received.length).toBe(1);
  const [again] = received as [Received];
  expect(again.headers['webhook-id']).toBe(deliveries[0]?.event_id);
  for (const secret of [signing_secret, rotated.signing_secret]) verified(secret, again);

  const ended = await json<{ signing_secret: string }>([
    'destination',
    'rotate-secret',
    String(id),
    '--end-old',
  ]);
  expect(await json(test)).toMatchObject({ accepted: true });
  const newest = received.at(-1) as Received;
  verified(ended.signing_secret, newest);
  expect(() => verified(rotated.signing_secret, newest)).toThrow();

  const listed = (await run(['destination', 'list', '--account', account, '--json'])).stdout;
  const all = [listed, JSON.stringify(deliveries), failed.stdout, failed.stderr].join();
  for (const secret of ['unspoken', signing_secret, rotated.signing_secret, ended.signing_secret])
    expect(all).not.toContain(secret);
  await json(['destination', 'remove', String(id)]);
  expect(await json(['destination', 'list', '--account', account])).toEqual([]);
  expect((await run(test)).stderr).toBe(`error: There is no destination ${id}: see "destination list".\n`);
});

test('what can never work is refused in one sentence', async () => {
  const account = await makeAccount();
  const base = ['destination', 'add', '--account', account, '--name', 'X', '--channel'];
  const problems: [args: string[], input: string, said: RegExp][] = [
    [['webhook', '--url', 'https://169.254.169.254/'], '', /169\.254\.169\.254/],
    [['webhook', '--url-stdin'], 'https://ada:unspoken-w@hooks.example.com/', /user name or password/],
    [['carrier-pigeon'], '', /--channel must be one of webhook, slack/],
    [['slack', '--url', 'https://hooks.slack.com/services/T/B/X'], '', /is a secret/],
    [['pagerduty', '--routing-key-stdin'], 'short', /32 letters and digits/],
  ];
  for (const [args, input, said] of problems) {
    const { exit, stderr, stdout } = await run([...base, ...args], input);
    expect([exit, stdout], `${args.join(' ')}: ${stderr}`).toEqual([2, '']);
    expect(stderr).toMatch(said);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(stderr).not.toContain('unspoken');
  }
});

test('`webhook listen` verifies what the service sends, and survives what strangers send', async () => {
  const account = await makeAccount();
  const { id, signing_secret } = await add(account, 'Listen');
  const listening = startProcess(
    ['webhook', 'listen', '--port', '0', '--secret-stdin', '--json'],
    environment,
    `${signing_secret}\n`,
  );
  const [, at = ''] = await listening.says(/Listening on (http:\S+)/);
  const hostile = [
    await fetch(at, { method: 'GET' }),
    await fetch(at, { method: 'POST', body: '\u001b[2J not a webhook' }),
    await fetch(at, {
      method: 'POST',
      body: '{}',
      headers: { 'webhook-id': 'x', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
    }),
  ];
  expect(hostile.map((answer) => answer.status)).toEqual([405, 400, 400]);
  await fetch(at, { method: 'POST', body: 'x'.repeat(200_000) }).then(
    (answer) => expect(answer.status).toBe(413),
    () => {}, // reset while sending
  );
  await json(['destination', 'change', String(id), '--url', at]);
  expect(await json(['destination', 'test', String(id)])).toMatchObject({ accepted: true, status: 204 });
  await listening.says(/"verified":true/);
  expect(listening.output()).not.toContain('\u001b');
  expect(listening.output()).not.toContain(signing_secret);
  expect(await listening.stop('SIGINT')).toBe(0);
});

test('a chat gets a digest at once, and on a schedule that every way shows', async () => {
  const account = await makeAccount();
  const chat = ['destination', 'add', '--account', account, '--name', 'Chat', '--channel', 'slack'];
  const { id } = await json<Added>(
    [...chat, '--url-stdin', '--digest', 'mon,07:00@europe/berlin'],
    `${url}\n`,
  );
  const [row] = await json<{ digest: unknown; next_digest_at: string }[]>([
    'destination',
    'list',
    '--account',
    account,
  ]);
  expect(row?.digest).toEqual({ every: 'mon', at: '07:00', time_zone: 'Europe/Berlin' });
  const next = new Date(row?.next_digest_at ?? '');
  expect(next.getUTCDay()).toBe(1);
  expect(next.getTime()).toBeGreaterThan(Date.now());
  expect(next.getTime()).toBeLessThanOrEqual(Date.now() + 7 * 86_400_000);

  received.length = 0;
  expect(await json(['destination', 'send-digest', String(id)])).toMatchObject({
    accepted: true,
    status: 204,
  });
  expect(received).toHaveLength(1);
  expect(received[0]?.body).toContain('0 databases, no score yet. Nothing opened, and nothing is open.');
  const [delivery] = await json<{ kind: string; state: string }[]>(['destination', 'deliveries', String(id)]);
  expect(delivery).toMatchObject({ kind: 'digest', state: 'accepted' });

  const changed = ['destination', 'change', String(id), '--digest'];
  expect((await run([...changed, 'day,06:30@UTC'])).stdout).toMatch(/^digest +day,06:30@UTC$/m);
  expect(await json([...changed, 'none'])).toMatchObject({ digest: null, next_digest_at: null });
  const quiet = ['destination', 'change', String(id), '--quiet-hours'];
  expect(await json([...quiet, '22:00-07:00@UTC'])).toMatchObject({ quiet_hours: { from: '22:00' } });
  expect(await json([...quiet, 'none'])).toMatchObject({ quiet_hours: null });
  const hook = await add(account, 'Hook');
  const refused = [
    await run([...changed, 'monday']),
    await run([...changed, 'mon,25:00@UTC']),
    await run([...changed, 'mon,07:00@Mars/Base']),
    await run(['destination', 'change', String(hook.id), '--digest', 'mon,07:00@UTC']),
    await run(['destination', 'send-digest', String(hook.id)]),
  ];
  expect(refused.map(({ exit }) => exit)).not.toContain(0);
  expect(refused.map(({ stderr }) => stderr)).toEqual([
    expect.stringContaining('such as mon,07:00@Europe/Berlin'),
    expect.stringContaining('Enter a digest as'),
    expect.stringContaining('no such time zone'),
    expect.stringContaining('The channel webhook takes no digest'),
    expect.stringContaining('The channel webhook takes no digest'),
  ]);
});

test('`apply` adds, changes and removes destinations, and shows no secret', async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'dbvitals.yaml');
  const secrets = join(folder.path, 'secrets');
  mkdirSync(secrets, { mode: 0o700 });
  writeFileSync(join(secrets, 'slack'), 'https://hooks.slack.com/services/T/B/unspoken-slack\n', {
    mode: 0o600,
  });
  const write = (destinations: string) =>
    writeFileSync(
      file,
      `accounts:\n  - name: Applied destinations\n    plan: business\n    destinations:\n${destinations}`,
    );
  const apply = async (...more: string[]) => {
    const outcome = await run(['apply', '-f', file, '--secrets-dir', secrets, ...more]);
    expect(outcome.stdout + outcome.stderr).not.toContain('unspoken');
    return outcome;
  };
  const slack = '      - { name: Chat, channel: slack, url: { file: slack }, minimum_severity: warning }\n';
  const hook =
    '      - { name: Hook, channel: webhook, url: "https://hooks.example.com/a", connections: ["prod-*"] }\n';

  write(slack + hook);
  expect((await apply('--plan')).stdout).toMatch(/Plan: 3 to add, 0 to change, 0 to remove/);
  expect((await apply()).stdout).toMatch(
    /\+ destination Applied destinations \/ Chat: channel slack, target https:\/\/hooks\.slack\.com/,
  );
  expect(await apply()).toMatchObject({
    stdout: 'No differences.\n',
    stderr: 'warning: no connection matches: destination Applied destinations / Hook: prod-*\n',
  });

  write(`${hook.replace('/a"', '/b"').replace('prod-*', 'shop-*')}`);
  const changed = await apply('--prune');
  expect(changed.stdout).toContain(
    '~ destination Applied destinations / Hook: connections prod-* -> shop-*, url\n',
  );
  expect(changed.stdout).toContain('- destination Applied destinations / Chat\n');
  expect((await apply('--prune')).stdout).toBe('No differences.\n');

  write(hook.replace('"https://hooks.example.com/a"', '"https://10.0.0.7/"').replace('webhook', 'slack'));
  const refused = await apply();
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toMatch(/destinations\[0\]: A URL of slack is a secret: give it as \{env: NAME\}/);
  folder.remove();
});
