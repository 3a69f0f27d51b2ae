import { connect } from 'node:net';

/** What a load of so many seconds came to. */
export interface LoadResult {
  /** Answers a second. */
  rate: number;
  /** Of the time from a request to its answer, in milliseconds. */
  p50: number;
  p99: number;
  /** Answers by status. */
  statuses: Record<string, number>;
}

/**
 * Asks for `requests` (whole HTTP/1.1 messages) in turn, on `connections` sockets that each send the next when the
 * last is answered. Raw sockets: a client library would take more of the two cores than a bare server does.
 */
export async function load(
  port: number,
  requests: readonly string[],
  options: { connections: number; seconds: number },
): Promise<LoadResult> {
  const statuses: Record<string, number> = {};
  const took: number[] = [];
  const started = performance.now();
  const end = started + options.seconds * 1000;
  let next = 0;

  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      let missing = 0;
      let sentAt = 0;
      const send = () => {
        sentAt = performance.now();
        if (sentAt > end) {
          socket.end();
          resolve();
          return;
        }
        const request = requests[next++ % requests.length];
        if (request) socket.write(request, 'latin1');
      };
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        if (missing === 0) {
          // Both servers write a head and a short body at once, so a head is never split on loopback.
          const head = chunk.toString('latin1', 0, 2_000);
          const status = head.slice(9, 12);
          statuses[status] = (statuses[status] ?? 0) + 1;
          const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
          missing = head.indexOf('\r\n\r\n') + 4 + length;
        }
        missing -= chunk.length;
        if (missing > 0) return;
        took.push(performance.now() - sentAt);
        send();
      });
    });

  await Promise.all(Array.from({ length: options.connections }, one));
  const seconds = (performance.now() - started) / 1000;
  took.sort((a, b) => a - b);
  const quantile = (q: number) => took[Math.floor((took.length - 1) * q)] ?? 0;
  return { rate: took.length / seconds, p50: quantile(0.5), p99: quantile(0.99), statuses };
}
