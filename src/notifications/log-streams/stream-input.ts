import { ACTION_TYPES } from '../../activity/catalogue/catalogue.ts';
import { ENTRY_FORMATS } from '../../activity/formats/format.ts';
import { invalidParameter } from '../../platform/rejection.ts';

/** The formats of a log stream. `sealed` is the text that seals prove, as `activity export` writes it. */
export const STREAM_FORMATS = [...ENTRY_FORMATS, 'sealed'] as const;
export type StreamFormat = (typeof STREAM_FORMATS)[number];

/** Who an entry may be by. */
export const ACTOR_TYPES = ['member', 'api_key', 'command_line', 'service', 'unknown'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** How a body of `log_http` is formed. */
export const BODY_SHAPES = ['ndjson', 'array'] as const;
export type BodyShape = (typeof BODY_SHAPES)[number];

/** What a log stream sends. Absent = the default, or unchanged. */
export interface StreamInput {
  /** Default: native. */
  format?: StreamFormat;
  /** Null = all types. */
  actionTypes?: readonly string[] | null;
  excludedTypes?: readonly string[];
  /** Null = all. */
  actors?: readonly ActorType[] | null;
  /** The first entry to send. Default: the next one that is written. */
  fromId?: number;
  /** The same by time. */
  since?: Date;
}

const MOST_TYPES = 200;

/** Requires what can be. A type of a later version is taken: it may come with an upgrade. */
export function requireStreamInput({ actionTypes, excludedTypes, actors, fromId, since }: StreamInput): void {
  const named = [...(actionTypes ?? []), ...(excludedTypes ?? [])];
  if (named.length > MOST_TYPES || named.some((type) => !/^[a-z][a-z0-9_]{0,62}$/.test(type)))
    throw invalidParameter(
      'action_types',
      `Name at most ${MOST_TYPES} action types, such as ${ACTION_TYPES[0]}.`,
    );
  if (actionTypes?.length === 0) throw invalidParameter('action_types', 'Name at least one action type.');
  if (actors && (actors.length === 0 || actors.some((actor) => !ACTOR_TYPES.includes(actor))))
    throw invalidParameter('actors', `Choose actors from ${ACTOR_TYPES.join(', ')}.`);
  if (fromId !== undefined && since !== undefined)
    throw invalidParameter('from_id', 'Give the first entry by its id or by its time, not both.');
}
