import { connect } from 'node:net';

/**
 * `node pipeline.ts PORT CONNECTIONS SECONDS PATH`: sends requests without a key in bursts of 64 KiB on each connection, as
 * many as are taken, and prints how many were answered. A process of its own: whoever measures beside it is not to wait.
 */
const [port = 0, connections = 0, seconds = 0] = process.argv.slice(2, 5).map(Number);
const request = `GET ${process.argv[5]} HTTP/1.1\r\nHost: x\r\n\r\n`;
const burst = Buffer.from(request.repeat(Math.ceil((64 * 1024) / request.length)));
const end = performance.now() + seconds * 1_000;

let answered = 0;
await Promise.all(
  Array.from({ length: connections }, () => {
    return new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
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
        .once('connect', send)
        .once('close', () => resolve())
        .once('error', reject);
    });
  }),
);
process.stdout.write(JSON.stringify(answered));
