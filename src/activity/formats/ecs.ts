import type { ActionGroup, ActionKind, Activity } from '../catalogue/action-kind.ts';
import { kindOfAction } from '../catalogue/catalogue.ts';
import { entryActor } from '../entry-actor.ts';
import { entrySeverity } from './entry-severity.ts';
import { eventId, queryString, withoutNulls } from './event-id.ts';
import type { ShownEntry } from './shown-entry.ts';

/** The version of the Elastic Common Schema that documents name. */
const ECS_VERSION = '8.11.0';

const CATEGORIES: Readonly<Record<ActionGroup, string>> = {
  requests: 'api',
  sign_in: 'authentication',
  members: 'iam',
  keys: 'iam',
  account: 'configuration',
  connections: 'configuration',
  checks: 'database',
  tickets: 'database',
  alerts: 'configuration',
  notifications: 'configuration',
  views: 'configuration',
};

const TYPES: Readonly<Record<Activity, readonly string[]>> = {
  create: ['creation'],
  read: ['access'],
  update: ['change'],
  delete: ['deletion'],
  export: ['access'],
  other: ['info'],
  logon: ['start'],
  logoff: ['end'],
  add_user: ['user', 'creation'],
  change_user: ['user', 'change'],
  delete_user: ['user', 'deletion'],
  change_password: ['user', 'change'],
  add_factor: ['user', 'change'],
  remove_factor: ['user', 'change'],
};

const SEVERITY = { info: 1, low: 2, medium: 3 };

/** An entry as a document of the Elastic Common Schema. */
export function toEcs(entry: ShownEntry, accountId: number | null): object {
  const { id, action_type, page_path, properties, occurred_at } = entry;
  const kind = kindOfAction(action_type);
  const { actor, target, outcome, source } = entryActor(action_type, properties);
  const isRequest = kind?.outcome === 'status';
  // The person who signs in is the user, also when they did not get in: rules look for them there.
  const isSignIn = kind?.group === 'sign_in';
  const user = isSignIn ? target : actor.type === 'member' || actor.type === 'api_key' ? actor : null;
  const onUser = !isSignIn && target?.type === 'member' ? target : null;
  const document = {
    '@timestamp': occurred_at,
    message: isRequest ? `${properties['method']} ${page_path}: ${properties['status']}` : kind?.meaning,
    ecs: { version: ECS_VERSION },
    event: {
      kind: 'event',
      category: [kind === null ? 'configuration' : CATEGORIES[kind.group]],
      type: ecsTypes(kind, entry),
      action: action_type,
      outcome,
      id: eventId(accountId, id),
      sequence: id,
      severity: SEVERITY[entrySeverity(entry)],
      provider: 'dbvitals',
      module: 'dbvitals',
      dataset: 'dbvitals.activity',
    },
    ...(accountId !== null && { organization: { id: String(accountId) } }),
    service: { type: 'dbvitals' },
    url: { path: page_path, ...(isRequest && { query: queryString(properties['query']) || null }) },
    source: source.ip === null ? null : { ip: source.ip },
    user: user === null && onUser === null ? null : { ...toUser(user), target: onUser && toUser(onUser) },
    user_agent: source.user_agent === null ? null : { original: source.user_agent },
    related: {
      ip: source.ip === null ? null : [source.ip],
      user: presentNames(user?.name, onUser?.name),
    },
    ...(isRequest ? toRequest(properties) : { dbvitals: { activity: properties } }),
  };
  return withoutNulls(document) as object;
}

function ecsTypes(kind: ActionKind | null, { properties }: ShownEntry): readonly string[] {
  if (kind === null) return ['info'];
  const { group, outcome, activity } = kind;
  if (group !== 'requests') {
    // The category does not know objects that begin and end.
    return CATEGORIES[group] === 'database' && /^(?:create|delete)$/.test(activity)
      ? ['change']
      : TYPES[activity];
  }
  const denied = outcome === 'failure' || properties['status'] === 401 || properties['status'] === 403;
  return denied ? ['access', 'denied'] : ['access'];
}

function toUser(party: { id: number | null; name: string | null } | null): object {
  return { id: party?.id ? String(party.id) : null, name: party?.name };
}

function presentNames(...names: (string | null | undefined)[]): string[] | null {
  const present = names.filter((name) => typeof name === 'string');
  return present.length === 0 ? null : [...new Set(present)];
}

function toRequest({ method, status, request_id, error_code }: ShownEntry['properties']): object {
  return {
    http: { request: { method, id: request_id }, response: { status_code: status } },
    error: error_code === null ? null : { code: error_code },
  };
}
