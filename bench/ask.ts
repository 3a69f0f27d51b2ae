import { Client } from './client.ts';
import { median } from './median.ts';
import { messages } from './mixes.ts';

/** Sends one request and returns the parsed body. Throws when the status is not 200. */
export async function askOnce<Body>(port: number, key: string, path: string): Promise<Body> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (answer.status !== 200)
    throw new Error(`GET ${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Body;
}

/** A repeated request; `path` gets the number of earlier requests. */
export interface Question {
  key: string;
  path: (n: number) => string;
}

/**
 * Sends each request `times` times over one connection, in turn and one at a time. Returns the median time of each in
 * milliseconds.
 */
export async function medianTimes(
  port: number,
  questions: readonly Question[],
  times: number,
): Promise<number[]> {
  const client = await Client.open(port);
  const took: number[][] = questions.map(() => []);
  for (let n = 0; n < times; n += 1) {
    for (const [place, { key, path }] of questions.entries()) {
      const [request = ''] = messages([key], [path(n)]);
      const sent = performance.now();
      const status = await client.ask(request);
      took[place]?.push(performance.now() - sent);
      if (status !== 200) throw new Error(`GET ${path(n)} was answered ${status}`);
    }
  }
  client.close();
  return took.map(median);
}
