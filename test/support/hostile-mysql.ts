import type { Socket } from 'node:net';
import type { HostileAnswer } from './hostile-server.ts';

/** A packet of MySQL's protocol (see "MySQL Packets" in its manual). */
export function packet(sequence: number, ...body: (Buffer | string | number)[]): Buffer {
  const bytes = Buffer.concat(
    body.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))),
  );
  const head = Buffer.alloc(4);
  head.writeUIntLE(bytes.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, bytes]);
}

const CAPABILITIES =
  0x1 | 0x8 | 0x20 | 0x80 | 0x200 | 0x2000 | 0x8000 | 0x1_0000 | 0x2_0000 | 0x8_0000 | 0x10_0000 | 0x20_0000;

/** The scramble of {@link greeting} and of the switch to another plugin. */
export const SCRAMBLE = Buffer.from('abcdefghijklmnopqrst');

/** A server's first packet. It offers compression, LOCAL INFILE and multi-statements, and optionally TLS. */
export function greeting({ plugin = 'mysql_native_password', version = '8.0.36', tls = false } = {}): Buffer {
  const flags = Buffer.alloc(4);
  flags.writeUInt32LE(CAPABILITIES | (tls ? 0x800 : 0));
  return packet(
    0,
    10,
    `${version}\0`,
    Buffer.of(7, 0, 0, 0),
    SCRAMBLE.subarray(0, 8),
    0,
    flags.subarray(0, 2),
    45,
    Buffer.of(2, 0),
    flags.subarray(2),
    21,
    Buffer.alloc(10),
    SCRAMBLE.subarray(8),
    0,
    `${plugin}\0`,
  );
}

/** OK packet; `status` 8 means that another result follows. */
export const ok = (sequence: number, status = 2): Buffer => packet(sequence, 0, 0, 0, status, 0, 0, 0);

export const endOfRows = (sequence: number): Buffer => packet(sequence, 0xfe, 0, 0, 2, 0);

export const mysqlError = (sequence: number, number: number, text: string): Buffer =>
  packet(sequence, 0xff, number & 0xff, number >> 8, `#HY000${text}`);

export const switchTo = (sequence: number, plugin: string): Buffer =>
  packet(sequence, 0xfe, `${plugin}\0`, SCRAMBLE, 0);

/** A column of text. */
export function column(sequence: number, name: string): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  const rest = Buffer.of(0x0c, 45, 0, 255, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0);
  return packet(sequence, text('def'), 0, 0, 0, text(name), 0, rest);
}

/** Accepts every login and the session settings. */
export function afterLogin(answer: (socket: Socket) => Buffer | null): HostileAnswer {
  return (sent, socket) => {
    if (sent === 0) return ok(2);
    return sent === 1 ? ok(1) : answer(socket);
  };
}

/** Sends the given packets in turn, regardless of the request. */
export function saying(...said: Buffer[]): HostileAnswer {
  return (sent) => said[sent] ?? null;
}

/** Sends the chunks of `next` while the client accepts them. */
export function endless(socket: Socket, next: () => Buffer): null {
  const pump = () => {
    while (!socket.destroyed && socket.write(next()));
  };
  socket.on('drain', pump);
  pump();
  return null;
}

/** Endless packets with correct numbers. Created once, because that is slow. */
export function sequel(socket: Socket, from: number, each: (sequence: number) => Buffer): null {
  const round = Buffer.concat(Array.from({ length: 4_096 }, (_, at) => each((from + at) & 0xff)));
  return endless(socket, () => round);
}

/** Packets of the maximum length, which form one longer packet. */
export function oversized(socket: Socket): null {
  const chunk = Buffer.alloc(0x10003, 0xff);
  return endless(socket, () => chunk);
}

/** A greeting, sent byte by byte. */
export function drip(socket: Socket): null {
  const bytes = greeting();
  let sent = 0;
  const timer = setInterval(() => socket.write(bytes.subarray(sent, ++sent)), 100);
  socket.once('close', () => clearInterval(timer));
  return null;
}
