import { ENTRY_OBJECTS } from '../vocabulary/entry-objects.ts';
import type { ActionKind } from './catalogue/action-kind.ts';
import { kindOfAction } from './catalogue/catalogue.ts';

/** Who or what an entry names. */
export interface EntryParty {
  type: string;
  id: number | null;
  name: string | null;
}

/** Who did what an entry says, to what, from where, and whether it succeeded: derived from the entry. */
export interface EntryActor {
  actor: EntryParty;
  /** Null = the account itself, or an API request. */
  target: EntryParty | null;
  outcome: 'success' | 'failure';
  source: { ip: string | null; user_agent: string | null; session: number | null };
}

/** What the types of later versions that are failures end in. */
const FAILED = /_(?:failed|refused|rejected|denied|given_up|tampered)$/;

type Properties = Readonly<Record<string, unknown>>;

/** Derives {@link EntryActor} of an entry by the catalogue. Types of later versions have the usual actor, and no target. */
export function entryActor(actionType: string, properties: Properties): EntryActor {
  const kind = kindOfAction(actionType);
  const { source_ip, user_agent, session_id } = properties;
  return {
    actor: readActor(kind, properties),
    target: kind && readTarget(kind, properties),
    outcome: hasFailed(kind, actionType, properties) ? 'failure' : 'success',
    source: {
      ip: textOrNull(source_ip),
      user_agent: textOrNull(user_agent),
      session: numberOrNull(session_id),
    },
  };
}

function hasFailed(kind: ActionKind | null, actionType: string, { status }: Properties): boolean {
  if (kind === null) return FAILED.test(actionType);
  return kind.outcome === 'status' ? Number(status) >= 400 : kind.outcome === 'failure';
}

function readActor(kind: ActionKind | null, properties: Properties): EntryParty {
  const { actor, actor_member_id, actor_name, api_key_id, api_key_name, member_id, name } = properties;
  if (kind?.actor === 'api_key')
    return { type: 'api_key', id: numberOrNull(api_key_id), name: textOrNull(api_key_name) };
  if (actor_member_id !== undefined && actor_member_id !== null)
    return { type: 'member', id: numberOrNull(actor_member_id), name: textOrNull(actor_name) };
  if (actor === 'unknown') return { type: 'unknown', id: null, name: null };
  if (actor === 'command line') return { type: 'command_line', id: null, name: null };
  if (kind?.actor === 'member' && numberOrNull(member_id) !== null)
    return { type: 'member', id: numberOrNull(member_id), name: textOrNull(name) };
  return { type: kind?.actor === 'service' ? 'service' : 'command_line', id: null, name: null };
}

function readTarget({ target, targetName }: ActionKind, properties: Properties): EntryParty | null {
  if (target === null) return null;
  const name = targetName === null ? null : textOrNull(properties[targetName]);
  return { type: target, id: numberOrNull(properties[ENTRY_OBJECTS[target]]), name };
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
const numberOrNull = (value: unknown) => (typeof value === 'number' ? value : null);
