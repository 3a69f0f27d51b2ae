import http from 'node:http';
import { signIn } from './console-session.ts';
import { type Fault, Seen } from './fault.ts';
import { judgeNeighbour, readBeside } from './neighbour.ts';
import { onStage } from './stage.ts';

const ENTRIES = 200_000;
const SESSIONS = 3;
/** Of a session, of each kind. Together more exports than an account may have. */
const LOOPS = 4;

/** Whole exports, and those that walk over the log and find little or nothing. */
const EXPORTS = [
  'format=csv',
  '',
  'address=203.0.113.9/32',
  'status=5xx&format=csv',
  'object=ticket:1',
  'member_id=1&from=2020-01-01&to=2090-01-01',
].map((query) => `/activity/export?${query}`);

const SEARCHES = ['address=2001:db8::/32', 'status=5xx', 'address=203.0.113.9/32&to=2090-01-01'].map(
  (query) => `/activity/search?${query}`,
);

/** The sessions of an account with a long log export it, and search it again and again. */
export const consoleExports: Fault = {
  fault: `three sessions of an account export its ${ENTRIES} log entries, and search them, without a pause`,
  figure:
    "another tenant's console p99 ≤ 300 ms and its API's ≤ 150 ms beside them, all 200; the account's own: 429 and no 5xx, no export is cut off",
  provoke: (extent) =>
    onStage(async (stage) => {
      await stage.command('sample-data', '--account', `${stage.id}`, '--activity', `${ENTRIES}`);
      const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => signIn(stage, stage.id)));
      const { origin } = stage.service;
      const agent = new http.Agent({ keepAlive: true });
      const statuses: Record<number, number> = {};
      let megabytes = 0;
      let cutOff = 0;
      const load = (going: () => boolean) => {
        const loop = async (session: string, paths: string[], first: number) => {
          for (let turn = first; going(); turn += 1) {
            const url = `${origin}/console/api${paths[turn % paths.length]}`;
            const { status, bytes, isWhole } = await read(url, session, agent, going);
            statuses[status] = (statuses[status] ?? 0) + 1;
            if (status === 200) megabytes += bytes / 1e6;
            if (!isWhole && going()) cutOff += 1;
          }
        };
        return sessions.flatMap((session, at) =>
          Array.from({ length: LOOPS }, (_, n) => [
            loop(session, EXPORTS, at + n),
            loop(session, SEARCHES, at + n),
          ]).flat(),
        );
      };
      const neighbour = await readBeside(stage, extent, load);
      agent.destroy();
      const { 200: done = 0, 429: refused = 0, ...rest } = statuses;
      const seen = new Seen()
        .atLeast(megabytes, 1, 'exported', ' MB')
        .atLeast(done, 3, 'answered')
        .atLeast(refused, SESSIONS, 'refused with 429')
        .none(Object.keys(rest).length, 'other statuses')
        .none(cutOff, 'cut off');
      return judgeNeighbour(seen, neighbour);
    }),
};

interface Taken {
  status: number;
  bytes: number;
  isWhole: boolean;
}

/** Reads an answer as it comes, and leaves when the time is over. */
function read(url: string, cookie: string, agent: http.Agent, going: () => boolean): Promise<Taken> {
  return new Promise((resolve) => {
    const request = http.get(url, { agent, headers: { cookie } }, (response) => {
      const { statusCode: status = 0 } = response;
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (!going()) response.destroy();
      });
      response.once('error', () => {}); // told by `complete`
      response.once('close', () => resolve({ status, bytes, isWhole: response.complete }));
    });
    request.once('error', () => resolve({ status: 0, bytes: 0, isWhole: false }));
  });
}
