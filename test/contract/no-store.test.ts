import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { command } from './command.ts';
import { temporaryFolder } from './running-service.ts';

// Commands in the wrong folder, or with the URL of another database.
const folder = temporaryFolder();
const file = (name: string, text: string) => {
  writeFileSync(join(folder.path, name), text);
  return join(folder.path, name);
};
const dataFolder = join(folder.path, 'wrong', 'data');
const named = ['--account', '1', '--name', 'a'];
const yaml = file('dbvitals.yaml', 'accounts:\n  - name: Example\n    plan: team\n');
const COMMANDS = [
  ['monitor'],
  ['migrate', '--plan'],
  ['backup', join(folder.path, 'a.backup')],
  ['apply', '-f', yaml],
  ['account', 'create', '--name', 'a', '--plan', 'team'],
  ['connection', 'add', ...named, '--url', 'postgres://watcher:secret-word@db.example.com/shop'],
  ['check', 'run', '--connection', '1'],
  ['activity', 'tail', '--account', '1'],
  ['activity', 'verify', '--account', '1'],
  ['activity', 'export', '--account', '1', '--out', join(folder.path, 'export')],
];

afterAll(() => folder.remove());

test.each(COMMANDS)(
  'without a store %s %s says where it looked and what to set, and makes nothing',
  async (...args) => {
    const { exit, stdout, stderr } = await command(args, { environment: { DBVITALS_DATA_DIR: dataFolder } });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toBe(
      `error: There is no store in ${dataFolder}: set DBVITALS_DATA_DIR or DATABASE_URL to your store, or run "npm run -s dbvitals -- migrate" to create one there.\n`,
    );
    expect(readdirSync(folder.path)).toEqual(['dbvitals.yaml']);
  },
);

test('a command does not create a store in a database that has none', async () => {
  const { DATABASE_URL = '', DBVITALS_SECRET_KEY = '' } = inject('sharedStore');
  const url = DATABASE_URL.replace(/\/[^/?]+(\?|$)/, '/postgres$1');
  const environment = { DATABASE_URL: url, DBVITALS_SECRET_KEY };
  const outcomes = await Promise.all(
    [
      ['account', 'list'],
      ['apply', '-f', yaml, '--json'],
      ['activity', 'seal'],
    ].map((args) => command(args, { environment, ownProcess: true })),
  );
  for (const { exit, stdout, stderr } of outcomes) {
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: There is no store in the database of DATABASE_URL: [^\n]*migrate[^\n]*\n$/,
    );
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select to_regclass('migration') as migration, to_regclass('account') as account`,
  );
  await client.end();
  expect(rows).toEqual([{ migration: null, account: null }]);
});

const starting = Buffer.from('E\0\0\0\x37SFATAL\0C57P03\0Mthe database system is starting up\0\0');

test.each<[what: string, meet: (socket: Socket) => unknown, query: string, sentence: RegExp]>([
  ['is silent', () => {}, '', /^The store does not answer: /],
  ['is silent to TLS', () => {}, '?sslmode=require', /^The store does not answer: /],
  [
    'hangs up',
    (socket) => socket.once('data', () => socket.end()),
    '',
    /^The store ended the connection: .*names PostgreSQL itself/,
  ],
  ['is a MySQL', (socket) => socket.write('J\0\0\0\n8.4.3\0'), '', /does not speak PostgreSQL's protocol: /],
  [
    'greets instead of TLS',
    (socket) => socket.write('SSH-2.0-x\r\n'),
    '?sslmode=require',
    /does not speak PostgreSQL's/,
  ],
  [
    'is starting',
    (socket) => socket.once('data', () => socket.end(starting)),
    '',
    /is starting or stopping \(57P03\)/,
  ],
])(
  'what answers as the store %s: one sentence without the password, and the command ends',
  async (_, meet, query, sentence) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      meet(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const environment = {
      DATABASE_URL: `postgres://watcher:secret-word@127.0.0.1:${port}/shop${query}`,
      DBVITALS_SECRET_KEY: '7c'.repeat(32),
    };
    const { exit, stdout, stderr } = await command(['account', 'list'], { environment, ownProcess: true });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/^error: [^\n]+DATABASE_URL[^\n]*\n$|57P03/);
    expect(stderr.replace('error: ', '')).toMatch(sentence);
    expect(stderr).not.toContain('secret-word');
    for (const socket of sockets) socket.destroy();
    server.close();
  },
);
