import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/**
 * `node pipeline.ts ORIGIN CONNECTIONS SECONDS PATH`: sends requests in bursts of 64 KiB on each connection, as many as are
 * taken, with the key of `FLOOD_KEY` if there is one, and prints how many were answered. A process of its own: whoever
 * measures beside it is not to wait.
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
      // What certificate the service shows is another test's.
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
          // What may be the beginning of the next status line; one that was counted is longer.
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
