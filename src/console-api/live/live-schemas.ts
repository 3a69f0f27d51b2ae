import { timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { BlockingTree } from '../episodes/episode-schemas.ts';

/** What a server does now. Its texts are untrusted: render them as text. */
const LiveReading = Type.Object({
  at: timestamp('when it was read'),
  connections_used: Type.Integer(),
  connections_allowed: Type.Integer(),
  active: Type.Integer(),
  idle_in_transaction: Type.Integer(),
  /** Null = there is none. */
  oldest_transaction_seconds: nullable(Type.Number()),
  /** Those with the longest waits first. */
  blocking: Type.Array(
    Type.Object({
      tree: BlockingTree,
      /** The statement that ends the session at the root; null if there is none that is safe. */
      ends: nullable(Type.String()),
    }),
  ),
  /** Active sessions, and those idle in a transaction, by what they do and who they are. */
  sessions: Type.Array(
    Type.Object({
      state: Type.String(),
      /** '' = they run. */
      wait: Type.String(),
      event: Type.String(),
      /** A query id or digest; '' = unknown. */
      query: Type.String(),
      role: Type.String(),
      application: Type.String(),
      database: Type.String(),
      count: Type.Integer(),
      /** Of the oldest. */
      seconds: Type.Number(),
    }),
  ),
});

/** The data of an event of GET /connections/:id/live (server-sent events, all of type `message`). */
export const LiveEvent = Type.Object({
  /** Null = it could not be read. */
  reading: nullable(LiveReading),
  /** Why not, as a clause; null = it was read. */
  reason: nullable(Type.String()),
  /** It is not tried again: the login is refused, or has no room for another session. */
  ends: Type.Boolean(),
});

export type LiveReading = Static<typeof LiveReading>;
export type LiveEvent = Static<typeof LiveEvent>;
