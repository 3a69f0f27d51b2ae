import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import tls from 'node:tls';
import { inject } from 'vitest';
import { type Answer, toAnswer } from './ask.ts';
import { expectContract } from './every-answer.ts';

// Until the next packet is sent, in milliseconds: a service that is at rest has read the last one.
const BETWEEN_PACKETS = 20;

/**
 * Sends bytes as they are, each item of a list as a packet of its own (with `halfClose`, it then closes its sending side), and gives the answers that came back until the service closed the connection, or said
 * nothing for `quietMs`. Each is held to what every answer under /api/ owes.
 */
export async function sendRaw(
  bytes: string | Buffer | string[],
  options: {
    origin?: string;
    quietMs?: number;
    method?: string;
    outsideApi?: boolean;
    halfClose?: boolean;
  } = {},
): Promise<Answer[]> {
  const packets = Array.isArray(bytes) ? bytes : [bytes];
  const { origin = inject('origin'), quietMs = 1_500, halfClose = false } = options;
  const received = await exchange(packets, { origin, quietMs, halfClose });
  const answers = parse(received, options.method ?? 'GET');
  const path = options.outsideApi ? '/' : '/api/';
  for (const answer of answers) expectContract(options.method ?? 'GET', path, withoutKind(answer));
  return answers;
}

/** The one answer that the bytes must get. */
export async function sendRawOnce(
  bytes: string | Buffer,
  options: { method?: string; origin?: string } = {},
): Promise<Answer> {
  const answers = await sendRaw(bytes, options);
  const [answer] = answers;
  if (answer === undefined || answers.length > 1) {
    throw new Error(
      `${answers.length} answers instead of one: ${answers.map(({ text }) => text).join(' | ')}`,
    );
  }
  return answer;
}

// Whether it is an activity answer, which has no ETag, is not known here.
function withoutKind(answer: Answer): Answer {
  if (answer.status !== 200 || answer.headers['etag'] !== undefined) return answer;
  return { ...answer, headers: { ...answer.headers, etag: '"none"', 'cache-control': 'private, no-cache' } };
}

function exchange(
  packets: (string | Buffer)[],
  { origin, quietMs, halfClose }: { origin: string; quietMs: number; halfClose: boolean },
): Promise<Buffer> {
  const { hostname, port, protocol } = new URL(origin);
  const address = { host: hostname, port: Number(port) };
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const send = async () => {
      for (const packet of packets) {
        socket.write(packet);
        if (packet !== packets.at(-1)) await wait(BETWEEN_PACKETS);
      }
      if (halfClose) socket.end();
    };
    const socket =
      protocol === 'https:'
        ? tls.connect({ ...address, rejectUnauthorized: false }, send)
        : net.connect(address, send);
    const finish = () => {
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    socket.setTimeout(quietMs, finish);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('end', finish);
    // A service that refuses what is still being sent may reset the connection after its answer.
    socket.once('error', (error) => (chunks.length > 0 ? finish() : reject(error)));
  });
}

function parse(received: Buffer, method: string): Answer[] {
  const answers: Answer[] = [];
  let rest = received;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine) ?? [];
    if (end < 0 || status === undefined) throw new Error(`This is no answer: ${rest.toString('latin1')}`);
    const headers = lines.flatMap((line) => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]);
    const { headers: named } = toAnswer(0, headers, Buffer.alloc(0));
    const bodiless = method === 'HEAD' || status === '204' || status === '304' || status === '100';
    const length = bodiless ? 0 : Number(named['content-length'] ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length);
    if (status !== '100') answers.push(toAnswer(Number(status), headers, body));
    rest = rest.subarray(end + 4 + length);
  }
  return answers;
}
