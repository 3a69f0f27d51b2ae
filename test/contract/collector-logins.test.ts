import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Bastion, startBastion } from '../support/bastion.ts';
import { makeSshKey } from '../support/ssh-key.ts';
import { AUTHORITY, startTlsFront } from '../support/tls-front.ts';
import { type Account, makeAccount } from './account.ts';
import { read } from './ask.ts';
import { command, commandJson } from './command.ts';
import { type Process, startProcess, temporaryFolder } from './running-service.ts';

// The logins that a collector makes at its site: by a token that a command prints, and through an SSH server.

const PASSWORD = 'unspoken-at-the-site';
const user = makeSshKey();
const folder = temporaryFolder();
const store = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
let account: Account;
let bastion: Bastion;
let collector: Process;
let ids: Record<string, number>;

/** Where the suite's own PostgreSQL has its socket, and its database. */
const site = new URL(inject('sharedStore')['DATABASE_URL'] ?? '');
const socketFolder = decodeURIComponent(site.hostname);

const sh = (script: string, ...parts: string[]) => ['/bin/sh', '-c', script, ...parts];

beforeAll(async () => {
  account = await makeAccount();
  await store.connect();
  await store.query('drop role if exists site_watcher');
  await store.query(`create role site_watcher login password '${PASSWORD}'`);
  const port = await startTlsFront(socketFolder);
  bastion = await startBastion(user, (host) =>
    host === 'db.internal' ? connect(join(socketFolder, '.s.PGSQL.5432')) : null,
  );
  writeFile('key', user.private);
  writeFile('other-key', makeSshKey().private);
  const url = `postgres://site_watcher@localhost:${port}${site.pathname}`;
  const byToken = (token_command: string[]) => ({ url, ca_file: AUTHORITY, token_command });
  const tunnelled = {
    url: `postgres://site_watcher:${PASSWORD}@db.internal:5432${site.pathname}`,
    tls: 'disable',
    ssh: `tunnel@127.0.0.1:${bastion.port}`,
    ssh_key_file: join(folder.path, 'key'),
    ssh_host_key: bastion.hostKey.replace(/=$/, ''),
  };
  const connections = {
    token: byToken(sh('test "$0" = localhost && printf %s "$SITE_TOKEN"', '{host}')),
    hangs: byToken(sh('echo in-vain; sleep 60')),
    fails: byToken(sh('echo in-vain; echo in-vain >&2; exit 3')),
    'two lines': byToken(sh(String.raw`printf 'in-vain\nin-vain\n'`)),
    absent: byToken(['/does/not/exist']),
    'in clear text': { url, tls: 'disable', token_command: sh('echo in-vain') },
    ssh: tunnelled,
    'other host key': { ...tunnelled, ssh_host_key: 'x'.repeat(43) },
    'other key': { ...tunnelled, ssh_key_file: join(folder.path, 'other-key') },
    'other host': { ...tunnelled, url: tunnelled.url.replace('db.internal', 'nowhere.internal') },
  };
  writeFile('all.yaml', JSON.stringify({ connections }));
  const { token, ssh } = connections;
  writeFile('good.yaml', JSON.stringify({ connections: { token, ssh } }));
  await startCollector(Object.keys(connections));
});

afterAll(async () => {
  expect(await collector?.stop()).toBe(0);
  bastion?.close();
  await store.query('drop role if exists site_watcher');
  await store.end();
  folder.remove();
});

function writeFile(name: string, text: string): void {
  writeFileSync(join(folder.path, name), text, { mode: 0o600 });
}

/** Starts a collector with these connections, and waits until each was checked. */
async function startCollector(names: readonly string[]): Promise<void> {
  const of = ['--account', `${account.id}`];
  const made = await commandJson<{ token: string }>(['collector', 'enrol', ...of, '--name', 'site']);
  writeFile('token', made.token);
  ids = {};
  for (const name of names) {
    const add = ['connection', 'add', ...of, '--name', name, '--collector', 'site', '--engine', 'postgres'];
    ids[name] = (await commandJson<{ id: number }>([...add, '--every', '7d'])).id;
  }
  const path = (name: string) => join(folder.path, name);
  collector = startProcess(
    [
      ...['collect', '--url', inject('origin'), '--name', 'site', '--file', path('all.yaml')],
      ...['--folder', path('state'), '--token-file', path('token'), '--no-pulse'],
    ],
    { SITE_TOKEN: PASSWORD },
  );
  for (const name of names)
    await collector.says(new RegExp(`"connection":"${name}".*health check delivered`));
}

interface Finding {
  check_id: string;
  status: string;
  metric_line: string;
}

/** The findings of the check that the service has of a connection. */
async function findings(name: string): Promise<Finding[]> {
  const path = `/api/v1/health/connections/${ids[name]}/checks/latest`;
  return (await read<{ data: { checks: Finding[] } }>(path, account.key)).data.checks;
}

test.each(['token', 'ssh'])('a login by %s is accepted, and the whole server is checked', async (name) => {
  const found = await findings(name);
  expect(found).toContainEqual(expect.objectContaining({ check_id: 'CONN_AUTH_FAILED', status: 'ok' }));
  expect(found.length).toBeGreaterThan(40);
});

test('the SSH server is asked for the hosts of the file', () => {
  expect(new Set(bastion.asked)).toEqual(new Set(['db.internal:5432', 'nowhere.internal:5432']));
});

test.each([
  ['hangs', 'CONN_AUTH_FAILED', /gave no token: it did not end within 10 s\.$/],
  ['fails', 'CONN_AUTH_FAILED', /gave no token: it exited with code 3\.$/],
  ['two lines', 'CONN_AUTH_FAILED', /it printed more than one line of text without spaces\.$/],
  ['absent', 'CONN_AUTH_FAILED', /it could not be started \(ENOENT\)\.$/],
  ['in clear text', 'CONN_AUTH_FAILED', /a token is sent over verified TLS only/],
  ['other host key', 'CONN_UNREACHABLE', /another host key/],
  ['other key', 'CONN_UNREACHABLE', /SSH server 127\.0\.0\.1 refuses the login of tunnel/],
  ['other host', 'CONN_UNREACHABLE', /does not reach nowhere\.internal:5432/],
])('%s: one finding tells why nothing was measured', async (name, check_id, why) => {
  expect(await findings(name)).toEqual([
    expect.objectContaining({ check_id, status: 'critical', metric_line: expect.stringMatching(why) }),
  ]);
});

test('doctor tries both ways to log in', async () => {
  const places = ['--folder', join(folder.path, 'state'), '--file', join(folder.path, 'good.yaml')];
  const options = { environment: { SITE_TOKEN: PASSWORD }, ownProcess: true };
  const { stdout } = await command(['doctor', '--collector', ...places, '--json'], options);
  for (const name of ['token', 'ssh']) expect(stdout).toContain(`Connection ${name}: the login is accepted.`);
});

test('nothing that a command printed, no password and no key reaches the log or the store', async () => {
  const [, secret = ''] = readFileSync(join(folder.path, 'key'), 'utf8').split('\n');
  for (const hidden of ['in-vain', PASSWORD, secret]) expect(collector.output()).not.toContain(hidden);
  const { rows } = await store.query<{ text: string }>(
    'select to_jsonb(h)::text as text from health_check h where account_id = $1',
    [account.id],
  );
  expect(rows).toHaveLength(Object.keys(ids).length);
  for (const { text } of rows)
    for (const hidden of ['in-vain', PASSWORD, secret]) expect(text).not.toContain(hidden);
});
