import http from 'node:http';
import { consoleReads, type OwnRows, selectOwnRows } from '../support/console-reads.ts';
import { signIn } from './console-session.ts';
import { type Fault, Seen } from './fault.ts';
import { get } from './load.ts';
import { judgeNeighbour, readBeside } from './neighbour.ts';
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
      const { origin } = stage.service;
      const agent = new http.Agent({ keepAlive: true });
      const statuses: Record<number, number> = {};
      const load = (going: () => boolean) =>
        sessions.flatMap((session, at) =>
          Array.from({ length: LOOPS_OF_SESSION }, async (_, loop) => {
            for (let turn = at * LOOPS_OF_SESSION + loop; going(); turn += 1) {
              const path = paths[(turn * 7) % paths.length];
              const headers = { cookie: session };
              const { status } = await get(`${origin}/console/api${path}`, null, { agent, headers });
              statuses[status] = (statuses[status] ?? 0) + 1;
            }
          }),
        );
      const neighbour = await readBeside(stage, extent, load);
      agent.destroy();
      const ofStatus = (from: number, to: number) =>
        Object.entries(statuses).reduce(
          (sum, [status, n]) => sum + (+status >= from && +status < to ? n : 0),
          0,
        );
      const seen = new Seen()
        .atLeast(ofStatus(200, 300), 10, 'read')
        .atLeast(statuses[429] ?? 0, SESSIONS, 'refused with 429')
        .none(ofStatus(500, 600), 'answered 5xx')
        .none(ofStatus(400, 500) - (statuses[429] ?? 0), 'other statuses');
      return judgeNeighbour(seen, neighbour);
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
