import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { sharedMember, signInAs } from './browser.ts';
import { command, commandJson } from './command.ts';
import type { Connection } from './records.ts';
import { temporaryFolder } from './running-service.ts';

// The certificates of a provider by name, and logins by token: what an operator sets, and what a member can't change.

const account = makeAccount();
const folder = temporaryFolder();
afterAll(() => folder.remove());

const URL = 'postgres://watcher@orders.abc.eu-central-1.rds.amazonaws.com:5432/orders';

async function addArguments(...options: string[]): Promise<string[]> {
  const { id } = await account;
  return ['connection', 'add', '--account', String(id), '--name', 'orders', '--url', URL, ...options];
}

/** The environment of an operator who has the token source `rds`. */
function withTokens(): Record<string, string> {
  const file = join(folder.path, 'tokens.json');
  const rds = { command: ['/bin/false'], hosts: ['*.rds.amazonaws.com'] };
  writeFileSync(file, JSON.stringify({ rds }), { mode: 0o600 });
  return { ...inject('environment'), DBVITALS_TOKEN_COMMANDS_FILE: file };
}

interface Detail {
  settings: {
    version: number;
    ca_fingerprints: string[];
    token_source: string | null;
    has_password: boolean;
  };
}

test('--ca names certificates that dbvitals ships: the console and the log show the name', async () => {
  const { id: accountId, key } = await account;
  const { id } = await commandJson<Connection>(await addArguments('--ca', 'aws-rds'));
  const viewer = await signInAs(accountId, ['viewer']);
  const detail = () => viewer.get<Detail>(`/connections/${id}`);
  expect((await detail()).settings.ca_fingerprints).toEqual(['aws-rds']);
  const file = join(folder.path, 'ca.pem');
  writeFileSync(file, rootCertificates[0] ?? '');
  const change = ['connection', 'change', String(id)];
  await commandJson([...change, '--ca-file', file]);
  expect((await detail()).settings.ca_fingerprints).toEqual([expect.stringMatching(/^[0-9A-F:]{95}$/)]);
  await commandJson([...change, '--ca', 'aws-rds']);
  expect((await detail()).settings.ca_fingerprints).toEqual(['aws-rds']);
  const changes = (await readLog(key)).filter(({ action_type }) => action_type === 'connection_changed');
  expect(changes.at(-1)?.properties).toMatchObject({ to: { ca_certificate: ['aws-rds'] } });
  // Amazon's authorities sign for every customer, so the name must be verified.
  const anyName = await command([...change, '--tls', 'verify-ca']);
  expect([anyName.exit, anyName.stderr]).toEqual([2, expect.stringMatching(/verify-full/)]);
  const both = await command([...change, '--ca', 'aws-rds', '--ca-file', file]);
  expect([both.exit, both.stderr]).toEqual([2, 'error: Give --ca or --ca-file, not both.\n']);
});

test.each([
  ['alloydb', /has an authority for each cluster.* --ca-file\.\n$/],
  ['aiven', /"avn project ca-get --target-filepath ca\.pem", and pass --ca-file ca\.pem\.\n$/],
  ['azure', /^error: Azure needs no certificates of its own.*Leave out --ca\.\n$/],
  ['digitalocean', /"doctl databases get-ca CLUSTER/],
  ['gcp', /"gcloud sql instances describe INSTANCE/],
  ['neon', /^error: Neon needs no certificates of its own/],
  ['supabase', /Supabase dashboard/],
  ['AWS-RDS', /--ca .*aws-rds/],
  ['constructor', /--ca .*aws-rds/],
])('--ca %s stores nothing and says where the certificates are', async (name, says) => {
  const { exit, stderr } = await command(await addArguments('--ca', name));
  expect([exit, stderr]).toEqual([2, expect.stringMatching(says)]);
});

test('a token source must be in the operator’s file, and takes one host, verified TLS and no password', async () => {
  const environment = withTokens();
  const refused = async (options: string[], given = environment) => {
    const { exit, stderr } = await command(await addArguments(...options), { environment: given });
    expect(exit).toBe(2);
    return stderr;
  };
  expect(await refused(['--token-source', 'rds'], inject('environment'))).toBe(
    'error: There is no token source rds: set DBVITALS_TOKEN_COMMANDS_FILE to a file that describes it.\n',
  );
  expect(await refused(['--token-source', 'entra'])).toBe(
    'error: There is no token source entra in DBVITALS_TOKEN_COMMANDS_FILE. It has rds.\n',
  );
  expect(await refused(['--token-source', 'rds', '--tls', 'require'])).toMatch(/over verified TLS only/);
  expect(await refused(['--token-source', 'rds', '--url', 'postgres://watcher@one,two/orders'])).toMatch(
    /leave the other hosts out/,
  );
  expect(await refused(['--token-source', 'rds', '--url', 'postgres://watcher:word@one/orders'])).toMatch(
    /leave the password out/,
  );
});

const operator = sharedMember(['operator']);

test('a member can’t change where a token is sent, or how, and can change the rest', async () => {
  const environment = withTokens();
  const { id: accountId } = await account;
  const args = await addArguments('--token-source', 'rds', '--ca', 'aws-rds');
  const { id } = await commandJson<Connection>(args, { environment });
  const member = await signInAs(accountId, ['operator']);
  const path = `/connections/${id}`;
  const { settings } = await member.get<Detail>(path);
  expect(settings).toMatchObject({ token_source: 'rds', has_password: false });
  const { version } = settings;
  const ways: Record<string, unknown> = {
    url: 'postgres://watcher@evil.rds.amazonaws.com/orders',
    address: { engine: 'postgres', host: 'evil.rds.amazonaws.com', username: 'watcher' },
    password: 'mine',
    tls: 'require',
    password_exposable: true,
    ca_certificate: rootCertificates[0],
    ssh: { username: 'a', host: 'evil.example.com', key: 'c' },
  };
  for (const [parameter, value] of Object.entries(ways)) {
    for (const [method, to] of [
      ['PATCH', path],
      ['POST', `${path}/test`],
    ] as const) {
      const answer = await member.ask(method, to, { version, [parameter]: value });
      expect([answer.status, answer.json()], `${method} ${parameter}`).toMatchObject([
        400,
        { error: { parameter, message: expect.stringMatching(/logs in by a token of the operator/) } },
      ]);
    }
  }
  expect((await member.ask('PATCH', path, { version, ssh: null })).status).toBe(400);
  expect((await member.get<Detail>(path)).settings).toEqual(settings);
  const renamed = await member.change<Detail['settings']>('PATCH', path, {
    version,
    name: 'orders, by token',
    interval_seconds: 600,
    expected_standbys: 1,
    thresholds: { PG_DEAD_TUPLES: { warning: 0.3 } },
  });
  expect(renamed).toMatchObject({ name: 'orders, by token', token_source: 'rds', has_password: false });
  // The service of the tests has no token sources: a test of the connection says so, and dials nothing.
  const tested = await member.change('POST', `${path}/test`, { version: renamed.version });
  expect(tested).toMatchObject({
    reachable: false,
    reason: expect.stringMatching(/has no token source of this name/),
  });
  const stranger = await operator();
  expect((await stranger.ask('PATCH', path, { version, name: 'x' })).status).toBe(404);
});
