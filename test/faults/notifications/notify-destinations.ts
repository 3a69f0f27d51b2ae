import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from '../fault.ts';
import { quantile } from '../load.ts';
import { onNotifiedStage } from './notified-stage.ts';
import { injectSteadily } from './notify-rate.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n';
const PER_SECOND = 40;
const STRETCHES = 5;

/** A p99 below this, in milliseconds, is noise: a tenth of the second within which the first attempt is promised. */
const NOISE_MS = 100;

/** Receivers that hang, reset, answer 500, or whose answer is slow or endless, in the same account as good ones. */
export const notifyDestinations: Fault = {
  fault: 'destinations that hang, reset, answer 500, a byte a second, an endless body',
  figure: "nothing lost; other destinations' p99 at most doubled (the median of five stretches)",
  provoke: (extent: Extent) =>
    onNotifiedStage(async (stage) => {
      const seconds = extent === 'short' ? 15 : 60;
      const good = await stage.destinations(2, 5);
      const [accountId = 0] = good.map((each) => each.accountId);
      await injectSteadily(stage, good, 5, PER_SECOND); // warms up
      const before = await injectSteadily(stage, good, seconds, PER_SECOND);
      const servers = await badServers();
      try {
        const bad = [];
        for (const server of servers) bad.push(...(await stage.webhooks(accountId, 2, urlOf(server))));
        for (const destination of bad) await stage.queue(destination, 100);
        const during = await injectSteadily(stage, good, seconds, PER_SECOND);
        await wait(2_000);
        const [lost] = await stage.query<{ lost: number; ended: number }>(
          `select count(*) filter (where state not in ('queued', 'accepted'))::int as lost,
                  (count(*) <> $2)::int as ended
             from delivery where destination_id = any($1)`,
          [bad.map(({ id }) => id), bad.length * 100],
        );
        const [normal, faulty] = [usualP99(before), usualP99(during)];
        return new Seen()
          .none(
            before.concat(during).filter(Number.isNaN).length,
            `of ${before.length + during.length} events lost`,
          )
          .none((lost?.lost ?? -1) + (lost?.ended ?? 0), 'of the bad destinations lost')
          .atMost(
            faulty,
            Math.max(2 * normal, NOISE_MS),
            `p99 ${Math.round(normal)} ms, beside bad destinations`,
            ' ms',
          );
      } finally {
        for (const server of servers) server.close();
      }
    }),
};

/** The median of the p99 of consecutive stretches: one pause of a shared machine takes more than 1 % of 15 seconds' events. */
function usualP99(waits: readonly number[]): number {
  const length = Math.ceil(waits.length / STRETCHES);
  const stretches = Array.from({ length: STRETCHES }, (_, n) => waits.slice(n * length, (n + 1) * length));
  return quantile(
    stretches.map((each) => quantile(each, 0.99)),
    0.5,
  );
}

const urlOf = (server: Server) => {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
};

/** One server of each kind of fault. */
async function badServers(): Promise<Server[]> {
  const slow = (socket: { write(text: string): unknown; destroyed: boolean }, text: string, ms: number) => {
    const timer = setInterval(() => {
      if (socket.destroyed) clearInterval(timer);
      else socket.write(text);
    }, ms);
  };
  const servers: Server[] = [
    createServer(), // hangs
    createServer((socket) => socket.resetAndDestroy()),
    createHttpServer((request, response) => {
      request.resume();
      response.writeHead(500).end('broken');
    }),
    createServer((socket) => {
      socket.write(HEAD);
      slow(socket, '1\r\nx\r\n', 1_000);
    }),
    createServer((socket) => {
      socket.write(HEAD);
      const text = `1000\r\n${'x'.repeat(4_096)}\r\n`;
      slow(socket, text, 1);
    }),
  ];
  for (const server of servers) {
    server.on('connection', (socket) => socket.on('error', () => {}).resume());
    server.listen(0, '127.0.0.1').unref();
    await once(server, 'listening');
  }
  return servers;
}
