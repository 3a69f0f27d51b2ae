import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';

/** Names come from the watched server: render them as text. */
export const ConnectionLoad = Type.Object({
  /** Seconds from one point to the next. */
  step: Type.Integer(),
  /** Unix seconds; a point is missing where no pulse looked. */
  at: Type.Array(Type.Number()),
  /** The largest first; a null name stands for all others. */
  parts: Type.Array(
    Type.Object({
      name: nullable(Type.String()),
      /** The average number of sessions that were active or idle in a transaction, at each point. */
      sessions: Type.Array(Type.Number()),
    }),
  ),
  /** The largest parts of the whole range, those of active sessions first. */
  top: Type.Array(
    Type.Object({
      /** Null = the rest. */
      state: nullable(Type.String()),
      /** By wait: its class and event; else one name. '' = unknown, or no wait. */
      names: Type.Array(Type.String()),
      /** The average number of sessions. */
      sessions: Type.Number(),
    }),
  ),
});

/** GET /connections/:id/load?by=wait&query=&from=&to= */
export type ConnectionLoad = Static<typeof ConnectionLoad>;
