import { Client } from './client.ts';
import { median } from './median.ts';
import { messages } from './mixes.ts';

/** Asks once and gives the parsed body; throws when the answer is not 200. */
export async function askOnce<Body>(port: number, key: string, path: string): Promise<Body> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (answer.status !== 200)
    throw new Error(`GET ${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Body;
}

/** A request that is asked again and again; `path` is told how often it was asked before. */
export interface Question {
  key: string;
  path: (n: number) => string;
}

/**
 * Asks each question `times` times over one connection, one at a time and all of them in turn, and gives the median of
 * each one's time in milliseconds, in their order.
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
