import type pg from 'pg';
import { cleanText } from '../../platform/text/clean-text.ts';
import type { BlockingEpisode, BlockingTree, TreeSession } from '../../runs/episodes/blocking-episode.ts';
import { storeDeadlock } from '../../runs/episodes/deadlock.ts';
import { storeEpisode } from '../../runs/episodes/store-episode.ts';
import { hashSource, type LoadMinute, type LoadSource } from '../../runs/load/session-load.ts';
import { storeLoad } from '../../runs/load/store-load.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import type { ConnectionKey } from '../monitor-deps.ts';
import { parseEvidence } from '../pulse/pulse-conditions.ts';
import type { SentDeadlock } from '../pulse/reading/read-deadlock.ts';
import type { CollectorKey } from './claim-collected.ts';

type Times<Of, Names extends keyof Of> = Omit<Of, Names> & {
  [Name in Names]: number | Extract<Of[Name], null>;
};

/** What pulses of a collector saw, as it is sent: times are milliseconds since 1970, by the collector's clock. */
export type PulseEvent = { connection: string } & (
  | { episode: Times<BlockingEpisode, 'began_at' | 'seen_at' | 'ended_at'> }
  | { deadlock: SentDeadlock }
  | {
      load: Times<Omit<LoadMinute, 'sources'>, 'at'> & {
        sources: { source: LoadSource; sessions: number }[];
      };
    }
  | { ask: { holding: string[]; cleared: string[]; figures?: object | undefined } }
);

/** How old or new an event may be: a collector sends it again while the service is away. */
const OLDEST_MS = 25 * 3_600_000;
const NEWEST_MS = 180_000;

const MINUTE_MS = 60_000;
/** As pulses cut them (`pulse-reading.ts`, `track-episodes.ts`). */
const NAME = 200;
/** `track-episodes.ts` cuts trees at 8 KiB, and counts the characters of their root. */
const TREE_BYTES = 12 * 1024;

const find = `
  select m.account_id as "accountId", m.connection_id as "connectionId", m.name,
         not ${mayStartWork('m.account_id')} as "isMoving"
    from collected_connection m
    join collector o using (account_id, collector_id)
    join connection c using (account_id, connection_id)
   where m.account_id = $1 and m.collector_id = $2 and m.name = any ($3)
     and o.revoked_at is null and c.removed_at is null and c.pulse_seconds > 0`;

/**
 * The connections with these names of which the collector may report pulses, by name; `moving` while the account goes to another cell.
 * What is of no such connection is left out: nobody can be asked again.
 */
export async function findPulsed(
  writer: pg.Pool,
  { accountId, collectorId }: CollectorKey,
  names: readonly string[],
): Promise<Map<string, ConnectionKey> | 'moving'> {
  const { rows } = await writer.query<ConnectionKey & { name: string; isMoving: boolean }>(find, [
    accountId,
    collectorId,
    names,
  ]);
  if (rows.some(({ isMoving }) => isMoving)) return 'moving';
  return new Map(rows.map(({ name, connectionId }) => [name, { accountId, connectionId }]));
}

/** Stores what a pulse of a collector saw, unless it is of no time that can be, or larger than any pulse's. */
export async function storePulseEvent(writer: pg.Pool, key: ConnectionKey, event: PulseEvent): Promise<void> {
  if ('ask' in event) return askForRun(writer, key, event.ask);
  if ('episode' in event) {
    const episode = acceptEpisode(event.episode);
    return episode ? storeEpisode(writer, key, episode) : undefined;
  }
  if ('deadlock' in event) {
    const { at, transactions } = event.deadlock;
    if (!isPossible(at)) return;
    return storeDeadlock(writer, key, {
      at: new Date(at),
      transactions: transactions.map(acceptTransaction),
    });
  }
  const minute = acceptLoad(event.load);
  if (minute) await storeLoad(writer, key, minute, new Set());
}

// A collector that asks all the time gets a run each 10 seconds, as often as a connection may be checked.
const ask = `
  update connection_schedule s
     set due_at = least(s.due_at, greatest(now(), h.created_at + interval '10 s')),
         pulse_evidence = $3::jsonb || jsonb_build_object('at', extract(epoch from now()))
    from connection c
    left join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   where s.account_id = $1 and s.connection_id = $2
     and c.account_id = s.account_id and c.connection_id = s.connection_id`;

async function askForRun(
  writer: pg.Pool,
  { accountId, connectionId }: ConnectionKey,
  evidence: object,
): Promise<void> {
  await writer.query(ask, [accountId, connectionId, JSON.stringify(parseEvidence(evidence))]);
}

function isPossible(at: number, now = Date.now()): boolean {
  return at > now - OLDEST_MS && at < now + NEWEST_MS;
}

function acceptEpisode({
  began_at,
  seen_at,
  ended_at,
  trees,
  ...episode
}: Extract<PulseEvent, { episode: unknown }>['episode']): BlockingEpisode | null {
  const isOrdered =
    began_at <= seen_at && (ended_at === null || (ended_at >= began_at && isPossible(ended_at)));
  if (!isPossible(seen_at) || !isOrdered || !trees.every(isPossibleTree)) return null;
  return {
    ...episode,
    root: cleanText(episode.root, NAME),
    database: cleanText(episode.database, NAME),
    role: cleanText(episode.role, NAME),
    application: cleanText(episode.application, NAME),
    began_at: new Date(began_at),
    seen_at: new Date(seen_at),
    ended_at: ended_at === null ? null : new Date(ended_at),
    trees: trees.map(acceptTree),
  };
}

function isPossibleTree(tree: BlockingTree): boolean {
  const isTime = Number.isFinite(Date.parse(tree.at));
  return isTime && Buffer.byteLength(JSON.stringify(tree)) <= TREE_BYTES;
}

function acceptTree({ at, root, waits, sessions }: BlockingTree): BlockingTree {
  return {
    at,
    root: root && acceptSession(root),
    waits: waits.map((wait) => ({
      ...wait,
      lock: cleanText(wait.lock, NAME),
      relation: wait.relation === null ? null : cleanText(wait.relation, NAME),
      session: wait.session && acceptSession(wait.session),
    })),
    sessions,
  };
}

function acceptSession({ pid, database, role, application, state }: TreeSession): TreeSession {
  return {
    pid,
    database: cleanText(database, NAME),
    role: cleanText(role, NAME),
    application: cleanText(application, NAME),
    state: cleanText(state, NAME),
  };
}

function acceptTransaction({ tables, ...transaction }: SentDeadlock['transactions'][number]) {
  return { ...transaction, tables: tables.map((table) => cleanText(table, NAME)) };
}

/** Null if it is not the minute of a clock: a hostile collector could store one for each millisecond. */
function acceptLoad({
  at,
  sources,
  ...minute
}: Extract<PulseEvent, { load: unknown }>['load']): LoadMinute | null {
  if (at % MINUTE_MS !== 0 || !isPossible(at)) return null;
  const cleaned = sources.map(({ source, sessions }) => {
    const clean = acceptSource(source);
    return { id: hashSource(clean), source: clean, sessions };
  });
  const byId = new Map(cleaned.map((one) => [one.id, one]));
  return { ...minute, at: new Date(at), sources: [...byId.values()] };
}

function acceptSource({ state, wait, event, query, role, application, database }: LoadSource): LoadSource {
  return {
    state,
    wait: cleanText(wait, NAME),
    event: cleanText(event, NAME),
    query: cleanText(query, NAME),
    role: cleanText(role, NAME),
    application: cleanText(application, NAME),
    database: cleanText(database, NAME),
  };
}
