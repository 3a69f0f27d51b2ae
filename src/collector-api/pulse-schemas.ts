import { nullable } from '../platform/schema/nullable.ts';
import { type Static, Type } from '../platform/schema/schema.ts';
import { stringEnum } from '../platform/schema/string-enum.ts';
import { MOST_LOAD_SOURCES } from '../runs/load/session-load.ts';
import { closed, list, Name } from './schema-parts.ts';

// What pulses at a collector see. The limits are those of `src/monitor/pulse/`.

const text = (maxLength = 200) => Type.String({ maxLength });
const Amount = Type.Number({ minimum: 0, maximum: 1e15 });
/** Process ids, and what is counted. */
const Whole = Type.Integer({ minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 });
/** Milliseconds since 1970. */
const Time = Type.Number({ minimum: 0, maximum: 1e14 });
/** Of an honest collector they have 64 bytes at most. */
const ShortName = text(64);

const TreeSession = closed({
  pid: Whole,
  database: text(),
  role: text(),
  application: text(),
  state: text(),
});

const Wait = {
  pid: Whole,
  blockers: list(Whole, 20),
  seconds: Amount,
  lock: text(),
  relation: nullable(text()),
};

const Tree = closed({
  at: Type.String({ pattern: '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z$' }),
  root: nullable(TreeSession),
  waits: list(closed({ ...Wait, session: nullable(TreeSession) }), 200),
  sessions: Amount,
});

const Episode = closed({
  began_at: Time,
  root: text(),
  seen_at: Time,
  ended_at: nullable(Time),
  database: text(),
  role: text(),
  application: text(),
  most_sessions: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  longest_seconds: Amount,
  lost_seconds: Amount,
  trees: list(Tree, 20),
});

const Deadlock = closed({
  at: Time,
  transactions: list(
    closed({
      digest: Type.String({ pattern: '^[0-9a-f]{32,64}$' }),
      command: Type.String({ pattern: '^[A-Z]{0,10}$' }),
      tables: list(text(), 8),
      is_victim: Type.Boolean(),
    }),
    8,
  ),
});

const LoadSource = {
  state: stringEnum('active', 'idle in transaction'),
  wait: ShortName,
  event: ShortName,
  query: ShortName,
  role: ShortName,
  application: ShortName,
  database: ShortName,
};

const Load = closed({
  at: Type.Integer({ minimum: 0, maximum: 1e14 }),
  active: Amount,
  idle_in_transaction: Amount,
  blocked_sessions: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  blocked_seconds: Amount,
  end_blocked_sessions: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  end_blocked_seconds: Amount,
  commits: nullable(Amount),
  rollbacks: nullable(Amount),
  replica_lag: nullable(Amount),
  sources: list(closed({ source: closed(LoadSource), sessions: Amount }), MOST_LOAD_SOURCES),
});

const Ask = closed({
  holding: list(text(), 100),
  cleared: list(text(), 100),
  figures: Type.Optional(
    closed({ blocked_seconds: Amount, blocked_sessions: Amount, load_active_sessions: nullable(Amount) }),
  ),
});

/** The body of POST /collector/pulse. Each event has one of `episode`, `deadlock`, `load` and `ask`. */
export const PulseEvents = closed({
  events: list(
    Type.Union([
      closed({ connection: Name, episode: Episode }),
      closed({ connection: Name, deadlock: Deadlock }),
      closed({ connection: Name, load: Load }),
      closed({ connection: Name, ask: Ask }),
    ]),
    200,
  ),
});

const Reading = closed({
  started: Type.Number({ minimum: -1e12, maximum: 1e12 }),
  isStandby: Type.Boolean(),
  isReplicating: nullable(Type.Boolean()),
  connections: closed({ used: Amount, allowed: Amount }),
  room: nullable(Type.Number({ minimum: -1e12, maximum: 1e12 })),
  lockWaitTimeout: nullable(Amount),
  active: Amount,
  idleInTransaction: Amount,
  load: list(closed({ ...LoadSource, count: Amount, seconds: Amount }), 200),
  transactions: nullable(closed({ commits: Amount, rollbacks: Amount })),
  replicaLag: nullable(Amount),
  deadlocks: nullable(Amount),
  oldestTransaction: nullable(Amount),
  waits: list(closed(Wait), 200),
  shortWaits: Amount,
  sessions: list(
    closed({
      pid: Whole,
      started: Type.Number({ minimum: -1e12, maximum: 1e12 }),
      database: text(),
      role: text(),
      application: text(),
      state: text(),
      seconds: Amount,
    }),
    500,
  ),
  clientsWaiting: nullable(closed({ count: Amount, seconds: Amount, isCutOff: Type.Boolean() })),
});

const Failure = closed({
  kind: stringEnum('unreachable', 'unauthorized', 'saturated', 'no_room', 'unread'),
  reason: text(500),
});

/** The body of POST /collector/look: what a person who watches a connection is shown. */
export const Look = closed({
  connection: Name,
  answer: Type.Union([closed({ reading: Reading }), closed({ failure: Failure })]),
});

export type PulseEvents = Static<typeof PulseEvents>;
export type Look = Static<typeof Look>;
