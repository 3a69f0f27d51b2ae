import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../contract/free-port.ts';
import type { Exchange } from '../contract/recorded-exchanges.ts';
import { documented } from './exchanges.ts';

/** Prism's report on an exchange. */
export interface Violation {
  /** `request` or `response`, then where in it. */
  location: string[];
  message: string;
}

/** Prism as a proxy for a server that replays the answers of these exchanges. */
export interface Prism {
  /** Sends a request by its index in the exchanges. Returns Prism's report on the request and the answer. */
  ask(at: number): Promise<Violation[]>;
  stop(): Promise<void>;
}

/** Starts it with `openapi.json`. */
export async function startPrism(exchanges: Exchange[]): Promise<Prism> {
  const upstream = http.createServer((request, response) => {
    const exchange = exchanges[Number(request.headers['x-exchange'])];
    response.writeHead(exchange?.status ?? 501, exchange?.headers);
    response.end(Buffer.from(exchange?.body ?? '', 'base64'));
  });
  const [upstreamPort, port] = [await freePort(), await freePort()];
  await once(upstream.listen(upstreamPort, '127.0.0.1'), 'listening');
  const proxy = spawn(
    join(import.meta.dirname, 'node_modules/.bin/prism'),
    [
      'proxy',
      'openapi.json',
      `http://127.0.0.1:${upstreamPort}`,
      '--port',
      `${port}`,
      '--verboseLevel',
      'silent',
    ],
    { cwd: join(import.meta.dirname, '../..'), stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const ended = once(proxy, 'close');
  const stop = async () => {
    proxy.kill();
    upstream.close();
    await ended;
  };
  try {
    await untilUp(port);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stop,
    ask: (at) => {
      const exchange = exchanges[at];
      if (!exchange) throw new Error(`There is no exchange ${at}.`);
      return send(port, at, exchange);
    },
  };
}

function send(port: number, at: number, { method, path, requestHeaders }: Exchange): Promise<Violation[]> {
  const { authorization, 'if-none-match': ifNoneMatch } = requestHeaders;
  const headers = {
    'x-exchange': String(at),
    ...(authorization === undefined ? {} : { authorization }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: documented(path), method, headers };
    const request = http.request(options, (answer) => {
      answer.resume();
      const told = answer.headers['sl-violations'];
      if (String(answer.headers['content-type']).includes('problem+json')) {
        reject(new Error(`Prism itself answered ${answer.statusCode} to ${path}`));
      } else {
        resolve(typeof told === 'string' ? readViolations(told) : []);
      }
    });
    request.once('error', reject).end();
  });
}

// Prism truncates reports that are too long for a header.
function readViolations(told: string): Violation[] {
  return told.startsWith('[') ? JSON.parse(told) : [{ location: ['response'], message: told }];
}

async function untilUp(port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const up = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (up) return;
    await wait(100);
  }
  throw new Error('Prism did not start within 30 s.');
}
