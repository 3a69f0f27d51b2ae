import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { consoleReads, type OwnRows, selectOwnRows } from '../support/console-reads.ts';
import { signIn } from './console-session.ts';
import { type Fault, Seen } from './fault.ts';
import { ask, during } from './flooded.ts';
import { FLEET, get, quantile } from './load.ts';
import { onStage, type Stage } from './stage.ts';

const SESSIONS = 5;
/** Together more than may wait of an account. */
const LOOPS_OF_SESSION = 12;
const TICKETS = 30_000;

const insertTickets = `
  insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line, remediation,
                      first_seen_at, last_seen_at)
  select $1, (array_agg(c.connection_id))[1 + n % count(*)::int], (array['PG_UNUSED_INDEX', 'PG_FK_UNINDEXED', 'PG_IDLE_IN_TXN'])[1 + n % 3],
         'public.lineitems_' || n, 'schema', 'Unused index, read again and again', (array['critical', 'warning', 'info'])[1 + n % 3],
         'open', 'Read ' || n || ' times, most of them for nothing at all.', '',
         now() - (${TICKETS} - n) * interval '1 min', now()
    from generate_series(1, ${TICKETS}) n
   cross join (select connection_id from connection where account_id = $1) c
   group by n
   order by n`;

/** Searches that read each ticket: each word is one more text to look for. */
const SEARCHES = ['first_seen', 'connection', 'title', 'assignee'].flatMap((sort) =>
  [1, 10].map(
    (words) => `/tickets?list=all&sort=${sort}&q=${'aeioutnsrl'.slice(0, words).split('').join('%20')}`,
  ),
);

/** The sessions of an account with many tickets ask every page that reads, and search again and again. */
export const consoleTickets: Fault = {
  fault: `five sessions of an account with ${TICKETS} tickets search, and ask every page that reads, without a pause`,
  figure:
    "another tenant's console p99 ≤ 300 ms and its API's ≤ 150 ms beside them, all 200; the account's own: 429 and no 5xx",
  provoke: (extent) =>
    onStage(async (stage) => {
      const paths = await fill(stage);
      const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => signIn(stage, stage.id)));
      const other = await stage.account('--requests-per-minute', '100000');
      const cookie = await signIn(stage, other.id);
      const { origin } = stage.service;
      const quiet = await readPages(origin, cookie, during(2));
      const going = during(extent === 'short' ? 8 : 30);
      const statuses: Record<number, number> = {};
      const agent = new http.Agent({ keepAlive: true });
      const loops = sessions.flatMap((session, at) =>
        Array.from({ length: LOOPS_OF_SESSION }, async (_, loop) => {
          for (let turn = at * LOOPS_OF_SESSION + loop; going(); turn += 1) {
            const path = paths[(turn * 7) % paths.length];
            const headers = { cookie: session };
            const { status } = await get(`${origin}/console/api${path}`, null, { agent, headers });
            statuses[status] = (statuses[status] ?? 0) + 1;
          }
        }),
      );
      // A service compiles a route's schemas at its first request: that is not what is judged.
      await wait(2_000);
      const [pages, answers] = await Promise.all([
        readPages(origin, cookie, going),
        ask(origin + FLEET, other.key, going),
      ]);
      await Promise.all(loops);
      agent.destroy();
      const ofStatus = (from: number, to: number) =>
        Object.entries(statuses).reduce(
          (sum, [status, n]) => sum + (+status >= from && +status < to ? n : 0),
          0,
        );
      return new Seen()
        .atLeast(ofStatus(200, 300), 10, 'read')
        .atLeast(statuses[429] ?? 0, SESSIONS, 'refused with 429')
        .none(ofStatus(500, 600), 'answered 5xx')
        .none(ofStatus(400, 500) - (statuses[429] ?? 0), 'other statuses')
        .none(pages.filter(Number.isNaN).length, `of ${pages.length} pages of the other tenant failed`)
        .none(answers.filter(Number.isNaN).length, `of ${answers.length} answers of its API failed`)
        .atMost(
          quantile(pages, 0.5),
          100,
          `its pages' median ${Math.round(quantile(quiet, 0.5))} ms →`,
          ' ms',
        )
        .atMost(quantile(pages, 0.99), 300, `p99 ${Math.round(quantile(quiet, 0.99))} ms →`, ' ms')
        .atMost(quantile(answers, 0.99), 150, 'p99 of its API', ' ms');
    }),
};

/** Fills the account, and returns the paths of its reads, with as many searches as other reads. */
async function fill(stage: Stage): Promise<string[]> {
  await stage.command('sample-data', '--account', `${stage.id}`, '--connections', '5', '--tickets', '0');
  await stage.query(insertTickets, [stage.id]);
  const [rows] = await stage.query<OwnRows & Record<string, unknown>>(selectOwnRows, [stage.id]);
  if (!rows) throw new Error('no rows');
  const reads = consoleReads(rows)
    .filter(([route]) => route.startsWith('GET') && !IS_LEFT_OUT.test(route))
    .map(([, path]) => path);
  return reads.flatMap((path, at) => [path, SEARCHES[at % SEARCHES.length] ?? path]);
}

/** Of rows that the account does not have, and streams. */
const IS_LEFT_OUT = /alerts\/:id|watch|export/;

/** The time of each page's reads of another tenant, in milliseconds; NaN if one is not answered 200. */
export async function readPages(origin: string, cookie: string, going: () => boolean): Promise<number[]> {
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
