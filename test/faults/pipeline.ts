import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/**
 * `node pipeline.ts ORIGIN CONNECTIONS SECONDS PATH`: sends as many requests as possible on each connection, in bursts of
 * 64 KiB, with the key of `FLOOD_KEY` if set, and prints how many were answered. Runs in a separate process, so that it
 * does not delay measurements.
 */
const [origin = '', connections = 0, seconds = 0, path = ''] = process.argv.slice(2);
const { hostname: host, port, protocol } = new URL(origin);
const key = process.env['FLOOD_KEY'];
const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`;
const burst = Buffer.from(request.repeat(Math.ceil((64 * 1024) / request.length)));
const end = performance.now() + Number(seconds) * 1_000;

let answered = 0;
await Promise.all(
  Array.from({ length: Number(connections) }, () => {
    return new Promise<void>((resolve, reject) => {
      const isSecure = protocol === 'https:';
      const address = { host, port: Number(port) };
      // Another test verifies the service's certificate.
      const socket = isSecure ? connectSecurely({ ...address, rejectUnauthorized: false }) : connect(address);
      const send = () => {
        while (performance.now() < end && socket.write(burst));
      };
      let rest = '';
      socket
        .setEncoding('latin1')
        .on('data', (text: string) => {
          rest += text;
          answered += rest.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0;
          // Keeps the possible start of the next status line; a counted one is longer.
          rest = rest.slice(-12);
          if (performance.now() >= end) socket.destroy();
        })
        .on('drain', send)
        .once(isSecure ? 'secureConnect' : 'connect', send)
        .once('close', () => resolve())
        .once('error', reject);
    });
  }),
);
process.stdout.write(JSON.stringify(answered));
