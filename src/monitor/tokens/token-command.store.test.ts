import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readTokenCommands, type TokenCommand } from '../../config/token-commands.ts';
import { measureLoaded } from './measure-loaded.ts';
import { forgetToken, mayReach, tokenOf } from './token-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'dbvitals-tokens-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const login = { host: 'db.example.com', port: 5432, username: 'watcher' };
const QUICK = { milliseconds: 1_000, bytes: 16_384 };

/** A token source whose command is a shell script. */
function source(script: string): TokenCommand {
  return { command: ['/bin/sh', '-c', script], hosts: ['db.example.com'] };
}

const print = (script: string, limits = QUICK) =>
  tokenOf(randomBytes(4).toString('hex'), source(script), login, limits);

test.each<[string, string, RegExp]>([
  ['hangs', 'sleep 60', /did not end within 1 s/],
  ['leaves a child that hangs', 'sleep 61 & echo abc; wait', /did not end within 1 s/],
  ['prints megabytes', 'yes secret', /more than 16384 bytes/],
  ['exits with 1', 'echo secret; exit 1', /exited with code 1$/],
  ['is killed', 'echo secret; kill -9 $$', /SIGKILL ended it/],
  ['prints two lines', 'echo secret; echo secret', /more than one line/],
  ['prints a space', 'echo "secret secret"', /more than one line of text without spaces/],
  ['prints nothing', 'true', /printed nothing/],
  ['prints JSON', `echo '"secret"'`, /printed text in quotes: choose an output without them$/],
  ['prints control characters', "printf 'sec\\033ret'", /more than one line/],
])('a command that %s gives no token, and its output is in no message', async (_what, script, why) => {
  const began = performance.now();
  const error: unknown = await print(script).catch((thrown: unknown) => thrown);
  expect(performance.now() - began).toBeLessThan(45_000);
  expect(String(error)).toMatch(why);
  expect(String(error)).not.toContain('secret');
});

test('a command that does not exist is named by its error', async () => {
  const missing = { command: ['/does/not/exist'], hosts: [] };
  await expect(tokenOf('missing', missing, login)).rejects.toThrow('it could not be started (ENOENT)');
});

test('a token is printed once until shortly before it ends', async () => {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString().replace(/[-:]|\.\d+/g, '');
  const jwt = (seconds: number) =>
    `e30.${Buffer.from(JSON.stringify({ exp: Date.now() / 1_000 + seconds })).toString('base64url')}.c2ln`;
  for (const [token, runs] of [
    [`host?X-Amz-Date=${at(0)}&X-Amz-Expires=900`, 1],
    [`host?X-Amz-Date=${at(-800_000)}&X-Amz-Expires=900`, 3],
    [jwt(3_600), 1],
    [jwt(60), 3],
    ['opaque', 1],
  ] as const) {
    const name = randomBytes(4).toString('hex');
    const count = join(folder, name);
    const command = source(`echo run >> ${count}; printf '%s' '${token}'`);
    for (let turn = 0; turn < 3; turn++) expect(await tokenOf(name, command, login)).toBe(token);
    expect(readFileSync(count, 'utf8')).toBe('run\n'.repeat(runs));
    forgetToken(name, login);
    await tokenOf(name, command, login);
    expect(readFileSync(count, 'utf8')).toBe('run\n'.repeat(runs + 1));
  }
  await expect(print(`printf '%s' '${jwt(-5)}'`)).rejects.toThrow('it printed has expired');
});

test('logins that wait at the same time share one run; another login has its own', async () => {
  const count = join(folder, 'shared');
  const command = source(`echo run >> ${count}; sleep 0.2; echo token`);
  const other = { ...login, username: 'other' };
  await Promise.all([login, login, other].map((one) => tokenOf('shared', command, one)));
  expect(readFileSync(count, 'utf8')).toBe('run\nrun\n');
});

test('names of the connection are arguments, never commands, and the store and its keys are hidden', async () => {
  const hostile = { host: '$(id)', port: 5432, username: "';id;'" };
  const command = ['/bin/sh', '-c', 'printf "%s" "$0,$1,$2"', '{host}', '{port}', '{username}'];
  expect(await tokenOf('arguments', { command, hosts: [] }, hostile)).toBe("$(id),5432,';id;'");
  process.env['DBVITALS_SECRET_KEY'] = 'secret';
  process.env['DATABASE_URL'] = 'secret';
  process.env['AWS_PROFILE'] = 'mine';
  try {
    const seen = await print('printf "%s" "[$DBVITALS_SECRET_KEY$DATABASE_URL$AWS_PROFILE]"');
    expect(seen).toBe('[mine]');
  } finally {
    for (const name of ['DBVITALS_SECRET_KEY', 'DATABASE_URL', 'AWS_PROFILE']) delete process.env[name];
  }
});

test('a token goes only to the hosts of its source', () => {
  const command = { command: ['x'], hosts: ['*.rds.amazonaws.com', 'db.example.com'] };
  for (const host of ['a.b.rds.amazonaws.com', 'DB.example.com']) expect(mayReach(command, host)).toBe(true);
  for (const host of ['rds.amazonaws.com', 'evilrds.amazonaws.com', 'db.example.com.evil.org', '10.0.0.1'])
    expect(mayReach(command, host)).toBe(false);
});

test('the file of token sources must belong to the operator alone', () => {
  const file = join(folder, 'tokens.json');
  const read = (text: string, mode = 0o600) => {
    writeFileSync(file, text);
    chmodSync(file, mode);
    return () => readTokenCommands(file);
  };
  const good = '{"aws": {"command": ["aws"], "hosts": ["*.rds.amazonaws.com"]}}';
  expect(read(good)()).toEqual({ aws: { command: ['aws'], hosts: ['*.rds.amazonaws.com'] } });
  expect(read(good, 0o666)).toThrow(/other users can write/);
  expect(read('[]')).toThrow(/must contain a JSON object/);
  expect(read('{')).toThrow(/must contain a JSON object/);
  expect(read('{"aws": {"command": "aws", "hosts": ["x"]}}')).toThrow(/"aws" must have exactly "command"/);
  expect(read('{"aws": {"command": ["aws"], "hosts": []}}')).toThrow(/must have exactly/);
  expect(read('{"a b": {"command": ["aws"], "hosts": ["x"]}}')).toThrow(/has a name of/);
  expect(() => readTokenCommands(join(folder, 'none'))).toThrow(/cannot be read \(ENOENT\)/);
});

const target = {
  ...({ engine: 'postgres', connectionType: 'direct', database: 'postgres', password: null } as const),
  ...login,
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
};

test.each([
  ['an unknown source', 'other', 'verify-full', login.host, /has no token source of this name/],
  ['a connection without verified TLS', 'mine', 'require', login.host, /sent over verified TLS only/],
  ['another host', 'mine', 'verify-full', 'evil.example.com', /"hosts" do not include evil.example.com/],
] as const)('%s runs no command and dials nothing', async (_what, tokenSource, tls, host, why) => {
  const ran = join(folder, 'ran');
  const job = {
    target: { ...target, tls, host },
    instructions: { allowPrivateTargets: true, thresholds: {} },
  };
  const commands = { mine: source(`touch ${ran}; echo token`) };
  const { outcomes, cost } = await measureLoaded({ job, tokenSource }, commands, AbortSignal.timeout(5_000));
  expect(outcomes.map(({ check }) => check.id)).toEqual(['CONN_AUTH_FAILED']);
  expect(outcomes[0]?.findings[0]?.metric_line).toMatch(why);
  expect(cost.statements).toBe(0);
  expect(() => readFileSync(ran)).toThrow(/ENOENT/);
});
