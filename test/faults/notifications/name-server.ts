import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An answer: addresses, another name, an error (RFC 1035, section 4.1.1), bytes that are no answer, or silence. */
export type NameAnswer =
  | { addresses: readonly string[] }
  | { alias: string }
  | { code: number }
  | { bytes: Buffer }
  | null;

const TYPES = { A: 1, CNAME: 5, AAAA: 28 };

/** Answers queries over UDP on port 53 of 127.0.0.1. `answer` gets a name in lower case and how often it was asked, from 1. */
export async function startNameServer(answer: (name: string, asked: number) => NameAnswer): Promise<void> {
  const socket = createSocket('udp4');
  const counts = new Map<string, number>();
  socket.on('message', (query, { port, address }) => {
    const { name, type, question } = parse(query);
    const key = `${name} ${type}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const given = answer(name, counts.get(key) ?? 1);
    if (given !== null) socket.send(reply(query, question, type, given), port, address);
  });
  socket.bind(53, '127.0.0.1');
  await once(socket, 'listening');
}

function parse(query: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    question: query.subarray(12, at + 5),
  };
}

function reply(query: Buffer, question: Buffer, type: number, given: Exclude<NameAnswer, null>): Buffer {
  if ('bytes' in given) return given.bytes;
  const records =
    'addresses' in given
      ? given.addresses
          .filter((each) => (isIPv6(each) ? TYPES.AAAA : TYPES.A) === type)
          .map((each) => record(type, addressBytes(each)))
      : 'alias' in given
        ? [record(TYPES.CNAME, nameBytes(given.alias))]
        : [];
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | ('code' in given ? given.code : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, question, ...records]);
}

/** A record of the name that was asked for, which nobody may keep. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

// Not normalised: an IPv4 address inside an IPv6 one stays there.
function addressBytes(text: string): Buffer {
  return Buffer.from(ipaddr.parse(text).toByteArray());
}

function nameBytes(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`)),
    Buffer.from([0]),
  ]);
}
