import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

/** What an SMTP server says to a command, by its first word; `greeting` and `body` (after the dot) too. Null = nothing. */
export type Replies = Readonly<Record<string, string | null>>;

/** A scripted SMTP server on a real socket. */
export interface SmtpFixture {
  port: number;
  /** What clients sent, line by line; over TLS from `STARTTLS` on. */
  lines: string[];
  connections: number;
  close(): void;
}

const DEFAULTS: Replies = {
  greeting: '220 mail.example.com ESMTP',
  EHLO: '250-mail.example.com\r\n250-AUTH PLAIN LOGIN\r\n250-STARTTLS\r\n250 SIZE 100000',
  AUTH: '235 2.7.0 ok',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  body: '250 2.0.0 queued as 1',
  STARTTLS: '220 go on',
  QUIT: '221 bye',
  RSET: '250 ok',
};

const pem = (name: string) => readFileSync(new URL(`../../../test/certificates/${name}`, import.meta.url));

/** Starts a server at localhost. `reply` may depend on the whole line. `certificate` is of test/certificates. */
export async function startSmtp(
  replies: Replies | ((line: string) => string | null | undefined) = {},
  { certificate = 'server', isTls = false } = {},
): Promise<SmtpFixture> {
  const key = pem(certificate === 'renewed' ? 'renewed.key' : 'server.key');
  const secureContext = createSecureContext({ key, cert: pem(`${certificate}.pem`) });
  const sockets = new Set<Socket>();
  const replyTo = (name: string, line: string) => {
    const given = typeof replies === 'function' ? replies(line) : replies[name];
    return given === undefined ? (DEFAULTS[name] ?? '500 what?') : given;
  };
  const server = createServer((socket) => {
    fixture.connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    talk(isTls ? new TLSSocket(socket, { isServer: true, secureContext }) : socket, true);
  });
  function talk(socket: Socket, isNew: boolean): void {
    let rest = '';
    let isBody = false;
    const say = (text: string | null) => text !== null && socket.write(`${text}\r\n`);
    socket.on('error', () => {}).on('data', onData);
    if (isNew) say(replyTo('greeting', 'greeting'));
    function onData(data: Buffer): void {
      const lines = (rest + data.toString()).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        fixture.lines.push(line);
        if (isBody && line !== '.') continue;
        const name = isBody ? 'body' : (line.split(/[ :]/)[0]?.toUpperCase() ?? '');
        const reply = replyTo(name, isBody ? 'body' : line);
        isBody = name === 'DATA' && (reply?.startsWith('3') ?? false);
        say(reply);
        if (name === 'STARTTLS' && reply?.startsWith('2')) {
          socket.off('data', onData);
          talk(new TLSSocket(socket, { isServer: true, secureContext }), false);
          return;
        }
      }
    }
  }
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const fixture: SmtpFixture = {
    port: (server.address() as AddressInfo).port,
    lines: [],
    connections: 0,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return fixture;
}
