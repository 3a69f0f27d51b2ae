import { timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';

/** A session of a watched server. Its texts are untrusted: render them as text. */
const Session = Type.Object({
  pid: Type.Integer(),
  database: Type.String(),
  role: Type.String(),
  application: Type.String(),
  /** `idle in transaction`, `active` …; '' = hidden. */
  state: Type.String(),
});

export const BlockingTree = Type.Object({
  at: timestamp('when it was seen'),
  /** Null = a transaction without a session, or the server does not show it. */
  root: nullable(Session),
  /** The longest wait first; there may be more sessions than these. */
  waits: Type.Array(
    Type.Object({
      pid: Type.Integer(),
      blockers: Type.Array(Type.Integer()),
      seconds: Type.Number(),
      lock: Type.String(),
      relation: nullable(Type.String()),
      session: nullable(Session),
    }),
  ),
  /** How many sessions waited. */
  sessions: Type.Integer(),
});

export const Episode = Type.Object({
  began_at: timestamp('when the first session began to wait'),
  /** The same for one session over pulses. */
  root: Type.String(),
  seen_at: timestamp('when it was seen last'),
  /** Null = it goes on. */
  ended_at: nullable(Type.String()),
  database: Type.String(),
  role: Type.String(),
  application: Type.String(),
  most_sessions: Type.Integer(),
  longest_seconds: Type.Number(),
  lost_seconds: Type.Number(),
  trees: Type.Array(BlockingTree),
  /** The statement that ends the session that blocks others; null if there is none that is safe. */
  ends: nullable(Type.String()),
});

export const Episodes = Type.Object({
  /** Newest first. */
  episodes: Type.Array(Episode),
  /** There are more than these. */
  more: Type.Boolean(),
});

export type EpisodeTree = Static<typeof BlockingTree>;
export type TreeSession = Static<typeof Session>;
export type Episode = Static<typeof Episode>;
/** GET /connections/:id/episodes?from=&to= and GET /tickets/:id/episodes */
export type Episodes = Static<typeof Episodes>;
