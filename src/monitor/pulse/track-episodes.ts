import type { BlockingEpisode, BlockingTree, TreeSession } from '../../runs/episodes/blocking-episode.ts';
import { type BlockingRoot, blockingRoots, longestWait } from './blocking-roots.ts';
import type { PulseReading } from './reading/pulse-reading.ts';

/** A wait that is shorter makes no episode: busy applications have many. */
const SHORTEST_SECONDS = 2;

const MOST_TREES = 20;
const TREE_BYTES = 8 * 1024;

/** The most episodes of a connection at a time. */
const MOST_EPISODES = 50;

/** The most that are stored after one reading: each writes to the store. The others are stored after the next. */
const MOST_STORED = 10;

/** The most trees of all episodes of a connection, but for two of each. */
const MOST_TREES_OF_ALL = 200;

/** How often an episode that does not grow is stored, so that another monitor can go on with it. */
const STORE_EVERY_MS = 30_000;

/** An episode that goes on. */
interface TrackedEpisode extends BlockingEpisode {
  /** When it was last stored; null if it was not yet. */
  storedAt: Date | null;
  /** It is to be stored: it began, grew, or was not stored for long. */
  isDue: boolean;
  /** The first reading without it; null if the last one had it. */
  missedAt: Date | null;
}

/** The episodes of a connection that go on, by root. */
export type Episodes = ReadonlyMap<string, TrackedEpisode>;

/**
 * Follows the episodes of a connection with a reading: which go on, and which are to be stored now because of it. One reading without
 * an episode does not end it: a session that wakes up to look for a deadlock does not wait for a moment, and servers read sessions
 * and locks one after the other.
 */
export function trackEpisodes(
  before: Episodes,
  reading: PulseReading,
  now: Date,
): { episodes: Episodes; stored: BlockingEpisode[] } {
  const roots = new Map(blockingRoots(reading).map((root) => [root.key, root]));
  const tracked: TrackedEpisode[] = [];
  const ended: BlockingEpisode[] = [];
  for (const [key, episode] of before) {
    const root = roots.get(key);
    roots.delete(key);
    if (root) tracked.push(grow(episode, root, reading, now, mostTrees(before.size)));
    else if (episode.missedAt === null) tracked.push({ ...episode, missedAt: now });
    else ended.push({ ...toStored(episode), seen_at: now, ended_at: episode.missedAt });
  }
  for (const root of [...roots.values()].slice(0, Math.max(0, MOST_EPISODES - tracked.length)))
    if (longestWait(root) >= SHORTEST_SECONDS) tracked.push(begin(root, reading, now));
  const due = new Set(
    tracked
      .filter(({ isDue }) => isDue)
      .toSorted((one, other) => (one.storedAt?.getTime() ?? 0) - (other.storedAt?.getTime() ?? 0))
      .slice(0, MOST_STORED),
  );
  const afterwards = (episode: TrackedEpisode): TrackedEpisode =>
    due.has(episode) ? { ...episode, storedAt: now, isDue: false } : episode;
  return {
    episodes: new Map(tracked.map((episode) => [episode.root, afterwards(episode)])),
    stored: [...[...due].map(toStored), ...ended],
  };
}

/** Whether a session waits that has not waited long enough for an episode. */
export function seesShortWait({ shortWaits, waits }: PulseReading): boolean {
  return shortWaits > 0 || waits.some(({ seconds }) => seconds < SHORTEST_SECONDS);
}

/** Of each of so many episodes: the first and the peak are always kept. */
function mostTrees(episodes: number): number {
  return Math.min(MOST_TREES, Math.max(2, Math.floor(MOST_TREES_OF_ALL / Math.max(1, episodes))));
}

function begin(root: BlockingRoot, reading: PulseReading, now: Date): TrackedEpisode {
  const seconds = longestWait(root);
  const { database = '', role = '', application = '' } = root.session ?? {};
  return {
    began_at: new Date(now.getTime() - seconds * 1_000),
    root: root.key,
    seen_at: now,
    ended_at: null,
    database,
    role,
    application,
    most_sessions: root.waits.length,
    longest_seconds: seconds,
    lost_seconds: root.waits.reduce((sum, wait) => sum + wait.seconds, 0),
    trees: [drawTree(root, reading, now)],
    storedAt: null,
    isDue: true,
    missedAt: null,
  };
}

function grow(
  before: TrackedEpisode,
  root: BlockingRoot,
  reading: PulseReading,
  now: Date,
  mostTrees: number,
): TrackedEpisode {
  const hasGrown = root.waits.length > before.most_sessions;
  const elapsed = Math.max(0, now.getTime() - before.seen_at.getTime()) / 1_000;
  const isOld = before.storedAt !== null && now.getTime() - before.storedAt.getTime() >= STORE_EVERY_MS;
  // The peak is always kept: it takes the place of the last tree.
  const kept = before.trees.slice(0, mostTrees - 1);
  return {
    ...before,
    seen_at: now,
    most_sessions: Math.max(before.most_sessions, root.waits.length),
    longest_seconds: Math.max(before.longest_seconds, longestWait(root)),
    lost_seconds: before.lost_seconds + elapsed * root.waits.length,
    trees: hasGrown ? [...kept, drawTree(root, reading, now)] : before.trees,
    isDue: before.isDue || hasGrown || isOld,
    missedAt: null,
  };
}

function toStored({ storedAt: _, isDue: __, missedAt: ___, ...episode }: TrackedEpisode): BlockingEpisode {
  return episode;
}

/** The blocking tree of a root, cut to 8 KiB. */
export function drawTree(root: BlockingRoot, { sessions }: PulseReading, now: Date): BlockingTree {
  const sessionByPid = new Map(sessions.map((session) => [session.pid, toTreeSession(session)]));
  const tree: BlockingTree = {
    at: now.toISOString(),
    root: root.session ? toTreeSession(root.session) : null,
    waits: [],
    sessions: root.waits.length,
  };
  let bytes = JSON.stringify(tree).length;
  for (const wait of root.waits) {
    const drawn = { ...wait, session: sessionByPid.get(wait.pid) ?? null };
    bytes += Buffer.byteLength(JSON.stringify(drawn)) + 1;
    if (bytes > TREE_BYTES) break;
    tree.waits.push(drawn);
  }
  return tree;
}

function toTreeSession({ pid, database, role, application, state }: TreeSession): TreeSession {
  return { pid, database, role, application, state };
}
