import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { signIn } from './console-session.ts';
import type { Extent, Seen } from './fault.ts';
import { ask, during } from './flooded.ts';
import { FLEET, get, quantile } from './load.ts';
import type { Stage } from './stage.ts';

/** The times of another tenant's reads, in milliseconds; NaN for one that is not answered 200. */
export interface Neighbour {
  /** Pages of its console before the load. */
  quiet: number[];
  pages: number[];
  /** Answers of the API. */
  answers: number[];
}

/** Reads another tenant's console and API while the loops of a load go on. */
export async function readBeside(
  stage: Stage,
  extent: Extent,
  startLoad: (going: () => boolean) => Promise<unknown>[],
): Promise<Neighbour> {
  const other = await stage.account('--requests-per-minute', '100000');
  const cookie = await signIn(stage, other.id);
  const { origin } = stage.service;
  const quiet = await readPages(origin, cookie, during(2));
  const going = during(extent === 'short' ? 8 : 30);
  const load = startLoad(going);
  // A service compiles a route's schemas at its first request: that is not what is judged.
  await wait(2_000);
  const [pages, answers] = await Promise.all([
    readPages(origin, cookie, going),
    ask(origin + FLEET, other.key, going),
  ]);
  await Promise.all(load);
  return { quiet, pages, answers };
}

/** Adds what the other tenant had of it. */
export function judgeNeighbour(seen: Seen, { quiet, pages, answers }: Neighbour): Seen {
  const before = (share: number) => `${Math.round(quantile(quiet, share))} ms →`;
  return seen
    .none(pages.filter(Number.isNaN).length, `of ${pages.length} pages of the other tenant failed`)
    .none(answers.filter(Number.isNaN).length, `of ${answers.length} answers of its API failed`)
    .atMost(quantile(pages, 0.5), 100, `its pages' median ${before(0.5)}`, ' ms')
    .atMost(quantile(pages, 0.99), 300, `p99 ${before(0.99)}`, ' ms')
    .atMost(quantile(answers, 0.99), 150, 'p99 of its API', ' ms');
}

/** The time of each page's reads of another tenant, in milliseconds; NaN if one is not answered 200. */
async function readPages(origin: string, cookie: string, going: () => boolean): Promise<number[]> {
  const took: number[] = [];
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  while (going()) {
    for (const path of ['/fleet', '/tickets', '/tickets/counts', '/me']) {
      const answer = await get(`${origin}/console/api${path}`, null, { agent, headers: { cookie } }).catch(
        () => null,
      );
      took.push(answer?.status === 200 ? answer.ms : Number.NaN);
    }
    await wait(200); // within the session's own budget
  }
  agent.destroy();
  return took;
}
