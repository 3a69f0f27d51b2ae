import { randomBytes } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Bytes that a client sends, and when it resets the connection: once it is open, once they are sent, or once an answer begins. */
interface Stage {
  bytes: () => string;
  reset: 'connected' | 'sent' | 'answered';
}

/** A key that is well-formed and nobody's: the service asks its store for it. */
function unknownKey(): string {
  const random = [...randomBytes(43)].map((byte) => BASE62[byte % 62]).join('');
  let sum = crc32(`dbv_live_${random}`);
  let check = '';
  for (let n = 0; n < 6; n += 1, sum = Math.floor(sum / 62)) check = `${BASE62[sum % 62]}${check}`;
  return `dbv_live_${random}${check}`;
}

/** Each stage of a request at which a client can go away; `key` is live. */
export function stages(key: string): Record<string, Stage> {
  const get = (path: string, token = key) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const post = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\nContent-Length: 2000\r\n\r\n${body}`;
  const fleet = '/api/v1/health/fleet';
  const sent = (bytes: string | (() => string)): Stage => {
    return { bytes: typeof bytes === 'string' ? () => bytes : bytes, reset: 'sent' };
  };
  return {
    'before anything is sent': { bytes: () => '', reset: 'connected' },
    'within the request line': sent('GET /api/v1/hea'),
    'within the headers': sent(`GET ${fleet} HTTP/1.1\r\nHost: localhost\r\nAuthor`),
    'after a request without a key': sent(`GET ${fleet} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    'while the store looks for an unknown key': sent(() => get(fleet, unknownKey())),
    'while the store answers': sent(get('/api/v1/activity?per_page=100')),
    'within the answer': { bytes: () => get(fleet), reset: 'answered' },
    'within a body': sent(post(fleet, '{"a": 1')),
    'within a body of the console': sent(post('/console/api/sign-in', '{"email": "a')),
    'after a request of the console': sent(get('/console/api/me')),
    'after a request without Host': sent(get(fleet).replace('Host: localhost\r\n', '')),
    'after malformed bytes': sent(`${get(fleet)}GARBAGE\r\n\r\n`),
    'after CONNECT': sent('CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    'after Expect': sent(get(fleet).replace('Host', 'Expect: 100-continue\r\nHost')),
    'after requests sent ahead': sent(`${get(fleet)}${get(fleet, unknownKey())}${get('/livez')}`.repeat(20)),
    'after /livez': sent(get('/livez')),
    'after /readyz': sent(get('/readyz')),
    'after /metrics': sent(get('/metrics')),
    'after /docs': sent(get('/docs')),
    'within a large document': { bytes: () => get('/openapi.json'), reset: 'answered' },
    'after a page of the console': sent(get('/')),
  };
}

/** Opens a connection, with TLS if asked to, resets it at the stage, and waits until it is closed. */
export function resetAt({ bytes, reset }: Stage, port: number, isSecure = false): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const end = () => socket.resetAndDestroy();
    // One that the service closed before, or that it never answered.
    const late = setTimeout(end, 5_000);
    socket
      .on('error', () => {})
      .once('close', () => {
        clearTimeout(late);
        resolve();
      });
    // What certificate the service shows is another test's.
    const stream = isSecure ? tls.connect({ socket, rejectUnauthorized: false }) : socket;
    stream
      .on('error', () => {})
      .once(isSecure ? 'secureConnect' : 'connect', () => {
        if (reset === 'connected') end();
        else if (reset === 'sent') stream.write(bytes(), end);
        else stream.once('data', end).write(bytes());
      });
  });
}
