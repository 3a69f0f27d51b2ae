import { connect } from 'node:net';
import { generateKey } from '../../src/platform/api-key.ts';

/**
 * `node flood.ts PORT COUNT CONNECTIONS AHEAD`: sends COUNT requests on CONNECTIONS connections, each up to AHEAD requests
 * ahead of the answers, and prints the count of each status as JSON. Uses the key of `FLOOD_KEY`, or a new well-formed but
 * invalid key each time. Runs in a separate process, so that it does not delay measurements.
 */
const [port = 0, count = 0, connections = 0, ahead = 0] = process.argv.slice(2).map(Number);
const key = process.env['FLOOD_KEY'];
const path = key === undefined ? '/api/v1/team/members' : '/api/v1/health/fleet';

const statuses: Record<string, number> = {};
let left = count;

function request(): string {
  left -= 1;
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key ?? generateKey()}\r\n\r\n`;
}

const send = (howMany: number) => Array.from({ length: Math.min(howMany, left) }, request).join('');

await Promise.all(
  Array.from({ length: connections }, () => {
    return new Promise<void>((resolve, reject) => {
      let waiting = Math.min(ahead, left);
      let rest = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(send(waiting)));
      socket.setEncoding('latin1').on('data', (text: string) => {
        let answered = 0;
        rest += text;
        for (const [, status = ''] of rest.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
          statuses[status] = (statuses[status] ?? 0) + 1;
          answered += 1;
        }
        // Keeps the possible start of the next status line; a counted one is longer.
        rest = rest.slice(-12);
        const more = Math.min(answered, left);
        waiting += more - answered;
        if (more > 0) socket.write(send(more));
        if (waiting === 0) socket.end();
      });
      socket.once('close', () => resolve()).once('error', reject);
    });
  }),
);
process.stdout.write(JSON.stringify(statuses));
