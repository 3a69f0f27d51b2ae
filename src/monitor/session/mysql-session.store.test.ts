import { constants, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import { type Socket, Socket as TcpSocket } from 'node:net';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  afterLogin,
  column,
  greeting,
  mysqlError,
  ok,
  oversized,
  packet,
  SCRAMBLE,
  saying,
  sequel,
  switchTo,
} from '../../../test/support/hostile-mysql.ts';
import { type HostileAnswer, startHostileServer } from '../../../test/support/hostile-server.ts';
import { LIMITS } from '../limits.ts';
import { openMysqlSession } from './mysql-session.ts';
import {
  byTls,
  file,
  offeringTls,
  oneRow,
  PASSWORD,
  politely,
  readFrom,
  SHORT,
  targetAt,
  verified,
} from './mysql-session-fixture.ts';

// mysql2 prints a warning to the console for unknown lengths.
beforeEach(() => void vi.spyOn(console, 'trace').mockImplementation(() => {}));

const request = (sequence: number) => packet(sequence, 0xfb, '/etc/passwd');

test.each<[string, (socket: Socket) => Buffer | null, HostileAnswer, RegExp]>([
  ['asks for a file in the login', politely, saying(request(2)), /Unexpected packet/],
  ['asks for a file after the login', politely, saying(ok(2), request(1)), /a local file/],
  ['asks for a file at a statement', politely, afterLogin(() => request(1)), /a local file/],
  [
    'asks for a file in a further answer',
    politely,
    afterLogin(() => Buffer.concat([ok(1, 8), request(2)])),
    /a local file/,
  ],
  ['counts wrong in the login', politely, saying(ok(9)), /out of order/],
  [
    'counts wrong in an answer',
    politely,
    afterLogin(() => Buffer.concat([packet(1, 1), column(7, 'c')])),
    /out of order/,
  ],
  ['sends an empty packet', politely, afterLogin(() => packet(1)), /empty packet/],
  [
    'sends a row without end',
    politely,
    afterLogin((socket) => {
      socket.write(oneRow('version').subarray(0, -9));
      return oversized(socket);
    }),
    /too long a packet/,
  ],
  [
    'sends answers without end',
    politely,
    afterLogin((socket) => sequel(socket, 1, (at) => ok(at, 8))),
    /more than one/,
  ],
  [
    'sends columns without end',
    politely,
    afterLogin((socket) => {
      socket.write(packet(1, 0xfd, 0xff, 0xff, 0xff));
      return sequel(socket, 2, (at) => column(at, 'c'));
    }),
    /too many columns/,
  ],
  ['sends 101 columns', politely, afterLogin(() => packet(1, 101)), /too many columns/],
  [
    'goes on with the login without end',
    politely,
    (sent, socket) =>
      sent === 0 ? switchTo(2, 'caching_sha2_password') : sequel(socket, 4, (at) => packet(at, 1, 3)),
    /sent too much/,
  ],
  ['sends an unrequested answer', politely, afterLogin(() => Buffer.concat([oneRow('c'), ok(1)])), /^$/],
  ['says OK and means nothing', politely, saying(packet(2, 0, 0xff, 0xff, 0xfb, 0xfe)), /not answer/],
  ['answers OK and means nothing', politely, afterLogin(() => packet(1, 0, 0xff, 0xfe, 0xff)), /./],
  ['ends a column in mid-word', politely, afterLogin(() => Buffer.concat([packet(1, 1), packet(2, 3)])), /./],
  [
    'names a column __proto__',
    politely,
    afterLogin(() => oneRow('__proto__', packet(4, 1, 'x'))),
    /__proto__/,
  ],
  ['greets in mid-word', () => packet(0, 10, '8.0.36\0', 1), () => null, /./],
  ['answers as PostgreSQL', () => null, () => Buffer.from('E\0\0\0\x10SFATAL\0'), /not answer within 0.6 s/],
  ['greets as PostgreSQL', () => Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I'), () => null, /./],
  ['speaks HTTP', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), () => null, /too long a packet/],
  [
    'has no connection left',
    () => mysqlError(0, 1040, 'Too many connections'),
    () => null,
    /all its connections are in use \(1040\)/,
  ],
])('a server that %s is reported', async (_what, greet, answer, why) => {
  const { reason, heard, bytes } = await readFrom(greet, answer);
  expect(reason).toMatch(why);
  expect(bytes).toBeLessThan(1024 * 1024);
  const text = Buffer.concat(heard).toString('latin1');
  expect(text).not.toContain(PASSWORD);
  expect(text).not.toContain('root:');
  // The login, the settings, one statement and the quit message.
  expect(heard.length).toBeLessThanOrEqual(4);
  expect(Object.hasOwn(Object.prototype, 'version')).toBe(false);
});

test('the error that ended the connection is reported once, later calls say that it was lost', async () => {
  const server = await startHostileServer(
    afterLogin(() => packet(1, 101)),
    politely,
  );
  const target = targetAt(server.port);
  const ends = { connecting: AbortSignal.timeout(600), signal: AbortSignal.timeout(60_000) };
  const meter = { bytes: 0, statements: 0, milliseconds: 0 };
  const way = { host: target.host, port: target.port, stream: new TcpSocket(), meter, limits: SHORT };
  const session = await openMysqlSession(target, '', way, ends);
  await expect(session.read('select 1 as one')).rejects.toThrow('too many columns');
  await expect(session.read('select 1 as one')).rejects.toThrow('the connection was lost');
  const began = performance.now();
  await session.close();
  expect(performance.now() - began).toBeLessThan(30_000);
  server.close();
});

test('endless rows are cut off long before a run’s limit of bytes', async () => {
  const { reason, bytes } = await readFrom(
    politely,
    afterLogin((socket) => {
      socket.write(oneRow('version').subarray(0, -9));
      return sequel(socket, 4, (at) => packet(at, 1, 'x'));
    }),
    {},
    { ...SHORT, answerMs: 10_000 },
  );
  expect(reason).toBe('the server sent too much');
  expect(bytes).toBeLessThan(4 * 1024 * 1024);
});

const IN_CLEAR = /clear text \(mysql_clear_password\)$/;
const asksFor = (plugin: string) => saying(switchTo(2, plugin));

test.each<[string, (socket: Socket) => Buffer | null, HostileAnswer, RegExp]>([
  ['mysql_clear_password', politely, asksFor('mysql_clear_password'), IN_CLEAR],
  [
    'mysql_clear_password from the start',
    () => greeting({ plugin: 'mysql_clear_password' }),
    asksFor('mysql_clear_password'),
    IN_CLEAR,
  ],
  ['dialog', politely, asksFor('dialog'), /clear text \(dialog\)$/],
  [
    'mysql_old_password',
    politely,
    asksFor('mysql_old_password'),
    /mysql_old_password, which is not supported/,
  ],
  ['mysql_old_password in its old form', politely, saying(packet(2, 0xfe)), /which is not supported/],
  ['a plugin of its own', politely, asksFor('no\x1b[2Jway'), /“no \[2Jway”, which is not supported/],
  ['a plugin named as a property', politely, asksFor('__proto__'), /__proto__, which is not supported/],
  ['a second factor', politely, saying(packet(2, 2, 'mysql_clear_password\0')), IN_CLEAR],
  [
    'another plugin after one that is fine',
    politely,
    saying(switchTo(2, 'caching_sha2_password'), switchTo(4, 'mysql_clear_password')),
    IN_CLEAR,
  ],
  [
    'the whole password (caching_sha2)',
    politely,
    saying(switchTo(2, 'caching_sha2_password'), packet(4, 1, 4), packet(6, 1, 'its key')),
    /whole password \(caching_sha2_password\): use TLS/,
  ],
  ['the whole password (sha256)', politely, asksFor('sha256_password'), /whole password \(sha256_password\)/],
  ['a signature in the clear', politely, asksFor('client_ed25519'), /client_ed25519.*TLS/],
])('a server that asks for %s gets no password', async (_what, greet, answer, why) => {
  const { reason, kind, heard } = await readFrom(greet, answer);
  expect({ reason, kind }).toEqual({ reason: expect.stringMatching(why), kind: 'unauthorized' });
  const text = Buffer.concat(heard).toString('latin1');
  expect(text).toContain('watcher');
  expect(text).not.toContain(PASSWORD);
  expect(heard.length).toBeLessThanOrEqual(2);
});

const version = packet(4, 6, '8.0.36');

test('a login to MySQL 8 by caching_sha2_password sets its limits and offers nothing dangerous', async () => {
  const { rows, heard } = await readFrom(
    () => greeting({ plugin: 'caching_sha2_password' }),
    saying(
      switchTo(2, 'caching_sha2_password'),
      Buffer.concat([packet(4, 1, 3), ok(5)]),
      ok(1),
      oneRow('version', version),
    ),
    {},
    LIMITS,
  );
  expect(rows).toEqual([{ version: '8.0.36' }]);
  const [login = Buffer.alloc(8), proof, settings] = heard;
  // COMPRESS, LOCAL_FILES, MULTI_STATEMENTS, MULTI_RESULTS.
  expect(login.readUInt32LE(4) & (0x20 | 0x80 | 0x1_0000 | 0x2_0000)).toBe(0);
  // Computed with Python's hashlib for this password and scramble.
  expect(proof?.subarray(4).toString('hex')).toBe(
    'c68fc5810a72f7c3af330052c0b5bb65ab893a8588a0a65aa5d3134e064c14cd',
  );
  expect(settings?.toString()).toMatch(/transaction_read_only = 1, .*max_execution_time = 5000/);
});

test('the whole password is sent encrypted with the pinned public key', async () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const caCertificate = `${file('authority.pem')}\n${pair.publicKey.export({ type: 'spki', format: 'pem' })}`;
  for (const [plugin, said] of [
    ['caching_sha2_password', [packet(4, 1, 4), ok(6)]],
    ['sha256_password', [ok(4)]],
  ] as const) {
    const answer = saying(switchTo(2, plugin), ...said, ok(1), oneRow('version', version));
    const { rows, heard } = await readFrom(politely, answer, { caCertificate }, LIMITS);
    expect(rows).toEqual([{ version: '8.0.36' }]);
    const sealed = heard[said.length]?.subarray(4) ?? Buffer.alloc(0);
    const padding = constants.RSA_PKCS1_OAEP_PADDING;
    const opened = privateDecrypt({ key: pair.privateKey, padding, oaepHash: 'sha1' }, sealed);
    const text = opened.map((byte, at) => byte ^ (SCRAMBLE[at % SCRAMBLE.length] ?? 0)).toString();
    expect(text).toBe(`${PASSWORD}\0`);
  }
});

test('a password that may be exposed is sent when the server asks for it', async () => {
  const { heard } = await readFrom(politely, asksFor('mysql_clear_password'), { passwordExposable: true });
  expect(heard[1]?.subarray(4).toString()).toBe(`${PASSWORD}\0`);
});

test('a server without TLS is rejected before anything is sent', async () => {
  for (const tls of ['verify-full', 'require'] as const) {
    const { reason, heard } = await readFrom(politely, () => null, { tls });
    expect({ reason, heard }).toEqual({ reason: 'it does not support TLS', heard: [] });
  }
});

test('the whole password is sent over TLS', async () => {
  for (const [plugin, login] of [
    ['caching_sha2_password', [packet(5, 1, 4), ok(7)]],
    ['sha256_password', [ok(5)]],
  ] as const) {
    const inside: Buffer[] = [];
    const said = [switchTo(3, plugin), ...login, ok(1), oneRow('version', version)];
    const { rows, heard } = await readFrom(offeringTls, byTls(said, inside), verified, LIMITS);
    expect(rows).toEqual([{ version: '8.0.36' }]);
    expect(inside[login.length]?.subarray(4).toString()).toBe(`${PASSWORD}\0`);
    expect(Buffer.concat(heard).toString('latin1')).not.toMatch(/watcher|watching/);
  }
});

test('an unverified server gets the whole password only if it may be exposed', async () => {
  const said = [
    switchTo(3, 'caching_sha2_password'),
    packet(5, 1, 4),
    ok(7),
    ok(1),
    oneRow('version', version),
  ];
  for (const passwordExposable of [false, true]) {
    const inside: Buffer[] = [];
    const given = { tls: 'require', passwordExposable } as const;
    const { rows, reason } = await readFrom(offeringTls, byTls([...said], inside), given, LIMITS);
    expect(Buffer.concat(inside).toString('latin1').includes(`${PASSWORD}\0`)).toBe(passwordExposable);
    expect(rows === null).toBe(!passwordExposable);
    expect(reason).toMatch(passwordExposable ? /^$/ : /unverified$/);
  }
});

test('data sent before TLS began is rejected', async () => {
  const early = (bytes: Buffer) => () => Buffer.concat([greeting({ tls: true }), bytes]);
  const said = [ok(3), ok(1), oneRow('version', version)];
  const { reason, heard } = await readFrom(early(ok(2)), byTls([...said], []), verified, LIMITS);
  expect(reason).toBe('the server spoke before TLS began');
  expect(Buffer.concat(heard).toString('latin1')).not.toContain('watcher');
  const { rows } = await readFrom(early(ok(2).subarray(0, 6)), byTls([...said], []), verified, LIMITS);
  expect(rows).toEqual([{ version: '8.0.36' }]);
});

test('a certificate for another name or address is rejected before the login', async () => {
  const inside: Buffer[] = [];
  const elsewhere = { ...verified, host: '127.0.0.1' };
  const { reason } = await readFrom(offeringTls, byTls([ok(3)], inside), elsewhere, LIMITS);
  expect(reason).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
  expect(inside).toEqual([]);
});
