import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Service } from '../contract/running-service.ts';
import { get } from './load.ts';

const PROGRAM = fileURLToPath(new URL('flood.ts', import.meta.url));

/** Floods a service from a separate process. Returns the count of each status. */
export async function flood(
  { origin }: Service,
  count: number,
  connections: number,
  ahead: number,
  key?: string,
): Promise<Record<string, number>> {
  const args = [PROGRAM, new URL(origin).port, count, connections, ahead].map(String);
  const env = { ...process.env, ...(key === undefined ? {} : { FLOOD_KEY: key }) };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('The flood could not be made.');
  return JSON.parse(printed);
}

/**
 * The time of each request of a good client, in milliseconds; NaN for any status but 200. The client uses four
 * connections, as dashboards do, each with one request at a time, until `going` returns false.
 */
export async function ask(url: string, key: string, going: () => boolean): Promise<number[]> {
  const took: number[] = [];
  const kept = { keepAlive: true, maxSockets: 4 };
  // Another test verifies the service's certificate.
  const agent = url.startsWith('https:')
    ? new https.Agent({ ...kept, rejectUnauthorized: false })
    : new http.Agent(kept);
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (going()) {
        const answer = await get(url, key, { agent }).catch(() => null);
        took.push(answer?.status === 200 ? answer.ms : Number.NaN);
        await wait(10);
      }
    }),
  );
  agent.destroy();
  return took;
}

/** Returns true for this many seconds from now. */
export function during(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1_000;
  return () => performance.now() < end;
}
