import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import mysql from 'mysql2';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { inPackage } from '../package-root.ts';
import { takeParser } from './http-parser.ts';
import { assertWired } from './mysql-wire.ts';
import { canExchange } from './pg-exchange.ts';
import { hasStartup } from './startup-encoding.ts';

/** The versions whose inside was read. With another one, read it again: each file of this folder says what it uses and why. */
const READ = { pg: '8.23.1', mysql2: '3.24.6' };

test.each(Object.entries(READ))('%s is the version whose inside was read', (name, version) => {
  const { dependencies } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8'));
  expect(dependencies[name]).toBe(version);
  const installed = JSON.parse(readFileSync(inPackage(`node_modules/${name}/package.json`), 'utf8'));
  expect(installed.version).toBe(version);
});

test('Node is of the major version whose HTTP server was read', () => {
  expect(process.versions.node.split('.')[0]).toBe('24');
});

test("Node's HTTP server parses in one listener of the socket's data", async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => response.end(request.url));
  server.on('connection', (socket) => {
    expect(socket.listeners('data')).toHaveLength(1);
    const parse = takeParser(socket, (bytes) => {
      seen.push(bytes.toString('latin1'));
      parse?.(bytes);
    });
    expect(parse).not.toBeNull();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /here HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  let answer = '';
  for await (const bytes of socket) answer += bytes;
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\/here$/);
  expect(seen.join('')).toContain('GET /here');
});

test('a socket without a parser is left alone', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  expect(takeParser(socket, () => {})).toBeNull();
  expect(socket.listenerCount('data')).toBe(0);
});

test('pg begins a login by the method that is replaced', () => {
  expect(hasStartup(new pg.Client().connection)).toBe(true);
});

test('pg has what an exchange uses', () => {
  expect(canExchange(new pg.Client())).toBe(true);
  expect(canExchange({ connection: { parse() {} } })).toBe(false);
  expect(canExchange({})).toBe(false);
});

test('pg tells of the steps of a login on its connection', () => {
  const { connection } = new pg.Client();
  expect(typeof connection.on).toBe('function');
  const client = readFileSync(inPackage('node_modules/pg/lib/client.js'), 'utf8');
  for (const event of ['authenticationSASL', 'authenticationSASLFinal', 'readyForQuery'])
    expect(client).toContain(`'${event}'`);
});

test('mysql2 has the inside that its limits use, and a connection without it is refused', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const stream = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const connection = mysql.createConnection({ stream, user: 'u' });
  connection.on('error', () => {});
  onTestFinished(() => connection.destroy());
  expect(() => assertWired(connection)).not.toThrow();
  expect(() => assertWired({ stream } as unknown as mysql.Connection)).toThrow(
    'mysql2 no longer has packetParser',
  );
});
