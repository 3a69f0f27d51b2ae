/** A session of a tree: who it is, what it does, and for how long. */
export interface TreeSession {
  pid: number;
  database: string;
  role: string;
  application: string;
  /** `idle in transaction`, `active` …; '' = hidden. */
  state: string;
}

/** A session that waits, as a tree has it. */
interface TreeWait {
  pid: number;
  /** Whom it waits for. */
  blockers: number[];
  seconds: number;
  lock: string;
  relation: string | null;
  /** Null = it was not read. */
  session: TreeSession | null;
}

/** The sessions that waited for one root at one instant. */
export interface BlockingTree {
  at: string;
  /** Null = a transaction without a session, or the server does not show it. */
  root: TreeSession | null;
  /** The longest wait first; cut so that the tree takes at most 8 KiB. */
  waits: TreeWait[];
  /** How many sessions waited. */
  sessions: number;
}

/** A monitor stores an episode that goes on every 30 s. One that was not seen for longer may be over: nobody looks any more. */
export const SEEN_WITHIN_SECONDS = 120;

/** A session that blocked others, from its first wait to its last. */
export interface BlockingEpisode {
  began_at: Date;
  /** The same for one session over pulses. */
  root: string;
  seen_at: Date;
  /** Null = it goes on. */
  ended_at: Date | null;
  database: string;
  role: string;
  application: string;
  most_sessions: number;
  longest_seconds: number;
  lost_seconds: number;
  trees: BlockingTree[];
}
