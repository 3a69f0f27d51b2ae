import { isDeepStrictEqual } from 'node:util';
import { askOnce } from '../ask.ts';
import { type Measured, startBare } from '../contestants.ts';
import { inTurn, message, messages, type NextRequest } from '../mixes.ts';
import type { Contestant } from '../rounds.ts';
import { startRival } from '../servers.ts';

/** A read that clients make all day. */
export interface Read {
  /** Its name for `--only`. */
  name: string;
  title: string;
  /** What it must reach of the plain server's rate for the same processor time. */
  reach: number;
  path: string;
  /** Whether the plain server must tell the true total, too. */
  isCounted?: boolean;
}

const HUNDRED = '/activity?per_page=100';
const OWN_ENTRY = `${HUNDRED}&order=asc&after_id=`;

/** The reads, in the order of the report. */
export const READS: readonly Read[] = [
  { name: 'empty-page', title: 'an empty page', reach: 0.4, path: `${OWN_ENTRY}${Number.MAX_SAFE_INTEGER}` },
  { name: 'own-entry', title: "a poll that returns the poller's last entry", reach: 0.4, path: OWN_ENTRY },
  { name: 'log-page', title: 'log, page of 100', reach: 1, path: HUNDRED },
  { name: 'collector-page', title: 'collector, 100 after an id', reach: 1, path: `${OWN_ENTRY}5000` },
  { name: 'statistics', title: 'ticket statistics', reach: 2.5, path: '/ops/stats' },
];

/** A read's contestants, and the physical limits of Node and PostgreSQL. */
export interface ReadContestants {
  read: Read;
  /** The length of the service's answer. */
  bytes: number;
  contestants: [plain: Contestant, ours: Contestant];
  limits: [bare: Contestant, select: Contestant];
}

interface Answer {
  data: unknown;
  meta?: { total: number; has_more: boolean };
}

/**
 * Starts the rivals of the reads on the service's store. `pollers` is the number of connections, each of which polls the log of
 * an account of its own. Throws if the plain server's rows are not the service's.
 */
export async function startReads(
  measured: Measured,
  reads: readonly Read[],
  pollers: number,
): Promise<ReadContestants[]> {
  const { accounts, service, postmaster, dataDir, ask } = measured;
  const plain = await startRival(['reads/plain-server.ts'], { dataDir });
  const [first] = accounts;
  // No load asks for the last account, so its log does not grow.
  const quiet = accounts.at(-1);
  const quietEnd = await lastId(measured, quiet?.keys[0]);
  const started: Pick<ReadContestants, 'read' | 'bytes'>[] = [];
  const bodies: Record<string, unknown> = {};
  for (const read of reads) {
    const isPoll = read.path === OWN_ENTRY;
    // The plain server is asked first, because the service's own answer adds an entry.
    const theirs = await askOnce<Answer>(
      plain.port,
      '',
      plainPath(read, isPoll ? quiet?.id : first?.id, quietEnd),
    );
    const ours = isPoll ? await pollOnce(measured) : await ask<Answer>(read.path);
    if (isPoll ? rowsOf(ours) !== 1 || rowsOf(theirs) !== 1 : !isDeepStrictEqual(theirs.data, ours.data))
      throw new Error(`${read.title}: the plain server has other rows than the service.`);
    const readMeta = ({ meta }: Answer) => [meta?.total, meta?.has_more];
    if (read.isCounted && !isDeepStrictEqual(readMeta(theirs), readMeta(ours)))
      throw new Error(`${read.title}: the plain server has another total than the service.`);
    bodies[`/${read.name}`] = ours;
    started.push({ read, bytes: Buffer.byteLength(JSON.stringify(ours)) });
  }
  const bare = await startBare(bodies);
  const last = await Promise.all(accounts.slice(1, pollers + 1).map(({ keys }) => lastId(measured, keys[0])));
  const poll: NextRequest = (connection) => {
    const { keys = [] } = accounts[connection + 1] ?? {};
    const id = last[connection] ?? 0;
    last[connection] = id + 1; // the entry of this request
    return message(keys[0] ?? '', `${OWN_ENTRY}${id - 1}`);
  };
  return started.map(({ read, bytes }) => {
    const isPoll = read.path === OWN_ENTRY;
    const path = plainPath(read, isPoll ? quiet?.id : first?.id, quietEnd);
    const named = (name: string) => `${name}, ${read.title}`;
    const repeat: Contestant['load'] = {
      async repeat({ connections, seconds }) {
        const of = new URLSearchParams({
          path: `/api/v1${path}`,
          seconds: `${seconds}`,
          at_a_time: `${connections}`,
        });
        const response = await fetch(`http://127.0.0.1:${plain.port}/repeat?${of}`);
        const { answers } = (await response.json()) as { answers: number };
        return { answers, rate: answers / seconds, p50: 0, p99: 0 };
      },
    };
    return {
      read,
      bytes,
      contestants: [
        { name: named('plain'), server: plain, postmaster, load: inTurn(messages([''], [path])) },
        {
          name: named('dbvitals'),
          server: service,
          postmaster,
          load: isPoll ? poll : inTurn(messages(first?.keys ?? [], [read.path])),
        },
      ],
      limits: [
        {
          name: named('bare'),
          server: bare,
          postmaster: null,
          load: inTurn(messages([''], [`/${read.name}`])),
        },
        { name: named('select'), server: plain, postmaster, load: repeat },
      ],
    };
  });
}

/** The plain server answers to anybody, so its path names the account. */
function plainPath({ path }: Read, account: number | undefined, quietEnd: number): string {
  const whole = path === OWN_ENTRY ? `${path}${quietEnd - 1}` : path;
  return `${whole}${whole.includes('?') ? '&' : '?'}account=${account}`;
}

function rowsOf({ data }: Answer): number {
  return Array.isArray(data) ? data.length : 1;
}

/** A poll of the second account, which returns the entry of the question before. */
async function pollOnce(measured: Measured): Promise<Answer> {
  const key = measured.accounts[1]?.keys[0];
  return measured.ask(`${OWN_ENTRY}${(await lastId(measured, key)) - 1}`, key);
}

/** The id of an account's last entry, which is the one of this question. */
async function lastId({ ask }: Measured, key: string | undefined): Promise<number> {
  const { data } = await ask<{ data: { id: number }[] }>('/activity?per_page=1', key);
  return (data[0]?.id ?? 0) + 1;
}
