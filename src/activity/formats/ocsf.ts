import type { ActionKind, Activity } from '../catalogue/action-kind.ts';
import { kindOfAction } from '../catalogue/catalogue.ts';
import { type EntryActor, type EntryParty, entryActor } from '../entry-actor.ts';
import { entrySeverity } from './entry-severity.ts';
import { eventId, queryString, withoutNulls } from './event-id.ts';
import type { ShownEntry } from './shown-entry.ts';

/** The version of OCSF that events name. */
const OCSF_VERSION = '1.3.0';

const ACCOUNT_CHANGE = { uid: 3001, name: 'Account Change', category: 3 };
const AUTHENTICATION = { uid: 3002, name: 'Authentication', category: 3 };
const WEB_RESOURCES = { uid: 6001, name: 'Web Resources Activity', category: 6 };
const API_ACTIVITY = { uid: 6003, name: 'API Activity', category: 6 };

const CATEGORIES: Readonly<Record<number, string>> = {
  3: 'Identity & Access Management',
  6: 'Application Activity',
};

type OcsfClass = typeof API_ACTIVITY;
type ClassActivity = readonly [OcsfClass, id: number, name: string];

// The class and the activity of each kind. 99 takes the action type as its name.
const CLASSES: Readonly<Record<Activity, ClassActivity>> = {
  create: [API_ACTIVITY, 1, 'Create'],
  read: [API_ACTIVITY, 2, 'Read'],
  update: [API_ACTIVITY, 3, 'Update'],
  delete: [API_ACTIVITY, 4, 'Delete'],
  other: [API_ACTIVITY, 99, ''],
  export: [WEB_RESOURCES, 7, 'Export'],
  logon: [AUTHENTICATION, 1, 'Logon'],
  logoff: [AUTHENTICATION, 2, 'Logoff'],
  add_user: [ACCOUNT_CHANGE, 1, 'Create'],
  change_user: [ACCOUNT_CHANGE, 99, ''],
  delete_user: [ACCOUNT_CHANGE, 6, 'Delete'],
  change_password: [ACCOUNT_CHANGE, 3, 'Password Change'],
  add_factor: [ACCOUNT_CHANGE, 10, 'MFA Factor Enable'],
  remove_factor: [ACCOUNT_CHANGE, 11, 'MFA Factor Disable'],
};

// What members see in the console without changing a server.
const VIEW_CLASSES: Readonly<Partial<Record<Activity, ClassActivity>>> = {
  create: [WEB_RESOURCES, 1, 'Create'],
  update: [WEB_RESOURCES, 3, 'Update'],
  delete: [WEB_RESOURCES, 4, 'Delete'],
};

// The API refuses the other methods, and records them.
const METHODS: Readonly<Record<string, Activity>> = {
  GET: 'read',
  HEAD: 'read',
  OPTIONS: 'read',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

// What the schema knows; `api.operation` has the others.
const HTTP_METHODS = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'TRACE'];

const SEVERITIES = { info: [1, 'Informational'], low: [2, 'Low'], medium: [3, 'Medium'] } as const;

const PRODUCT = { name: 'dbvitals', vendor_name: 'dbvitals' };
const SERVICE = { svc_name: 'dbvitals' };

/** An entry as an OCSF event: Account Change, Authentication, Web Resources Activity or API Activity. */
export function toOcsf(entry: ShownEntry, accountId: number | null): object {
  const kind = kindOfAction(entry.action_type);
  const who = entryActor(entry.action_type, entry.properties);
  const [type, activityId, activityName] = classify(kind, entry);
  const [severityId, severity] = SEVERITIES[entrySeverity(entry)];
  const failed = who.outcome === 'failure';
  const event = {
    class_uid: type.uid,
    class_name: type.name,
    category_uid: type.category,
    category_name: CATEGORIES[type.category],
    activity_id: activityId,
    activity_name: activityId === 99 ? entry.action_type : activityName,
    type_uid: type.uid * 100 + activityId,
    severity_id: severityId,
    severity,
    status_id: failed ? 2 : 1,
    status: failed ? 'Failure' : 'Success',
    time: Date.parse(entry.occurred_at),
    message: entryMessage(kind, entry),
    metadata: {
      version: OCSF_VERSION,
      product: PRODUCT,
      log_name: 'activity',
      event_code: entry.action_type,
      uid: eventId(accountId, entry.id),
      sequence: entry.id,
      original_time: entry.occurred_at,
      // The class has an actor by the profile Host only.
      profiles: type === WEB_RESOURCES ? ['host'] : null,
      ...(accountId !== null && { tenant_uid: String(accountId) }),
    },
    actor: toActor(who),
    src_endpoint: who.source.ip === null ? SERVICE : { ip: who.source.ip },
    dst_endpoint: type === ACCOUNT_CHANGE ? null : SERVICE, // the class has none
    ...ofClass(type, kind, entry, who),
  };
  return withoutNulls(event) as object;
}

function classify(kind: ActionKind | null, { properties }: ShownEntry): ClassActivity {
  if (kind === null) return CLASSES.other;
  const activity =
    kind.outcome === 'status' ? (METHODS[String(properties['method'])] ?? 'other') : kind.activity;
  return (kind.group === 'views' && VIEW_CLASSES[activity]) || CLASSES[activity];
}

function entryMessage(kind: ActionKind | null, { action_type, page_path, properties }: ShownEntry): string {
  if (kind?.outcome === 'status') return `${properties['method']} ${page_path}: ${properties['status']}`;
  return kind?.meaning ?? action_type;
}

/** A person or a key, or the program that did it. */
function toActor({ actor, source }: EntryActor): object {
  const session = source.session === null ? null : { uid: String(source.session) };
  if (actor.type === 'command_line') return { app_name: 'dbvitals command line', session };
  return actor.type === 'service' ? { app_name: 'dbvitals', session } : { user: toUser(actor), session };
}

const USER_TYPES: Readonly<Record<string, readonly [number, string]>> = {
  member: [1, 'User'],
  api_key: [99, 'API key'],
};

function toUser({ type, id, name }: EntryParty): object {
  const [type_id, typeName] = USER_TYPES[type] ?? [0, 'Unknown'];
  const isKey = type === 'api_key';
  return {
    uid: isKey || id === null ? null : String(id),
    credential_uid: isKey && id !== null ? String(id) : null,
    name: name ?? (isKey && id !== null ? `API key ${id}` : id === null ? 'unknown' : null),
    type_id,
    type: typeName,
  };
}

/** What only events of the class have. */
function ofClass(type: OcsfClass, kind: ActionKind | null, entry: ShownEntry, who: EntryActor): object {
  const unmapped = { ...entry.properties, page_path: entry.page_path };
  const user = toUser(who.target ?? { type: 'member', id: null, name: null });
  if (type === AUTHENTICATION) {
    const { by } = entry.properties;
    const protocol = by === 'oidc' ? [4, 'OpenID'] : typeof by === 'string' ? [99, by] : [0, 'Unknown'];
    const [auth_protocol_id, auth_protocol] = protocol;
    return {
      user,
      service: { name: 'dbvitals' },
      is_remote: true,
      auth_protocol_id,
      auth_protocol,
      unmapped,
    };
  }
  if (type === ACCOUNT_CHANGE) return { user, unmapped };
  if (type === WEB_RESOURCES) return { web_resources: [toResource(entry, who)], unmapped };
  if (kind?.outcome === 'status') return toRequest(entry);
  const resources = who.target === null ? null : [toResource(entry, who)];
  return { api: { operation: entry.action_type, service: { name: 'dbvitals' } }, resources, unmapped };
}

function toResource({ page_path }: ShownEntry, { target }: EntryActor): object {
  if (target === null) return { name: page_path, type: 'log' };
  const { type, id, name } = target;
  return {
    uid: id === null ? null : String(id),
    name: name ?? (id === null ? page_path : `${type} ${id}`),
    type,
  };
}

function toRequest({ page_path, properties }: ShownEntry): object {
  const { method, status, error_code, query, request_id, user_agent } = properties;
  const query_string = queryString(query);
  return {
    status_code: status === null ? null : String(status),
    status_detail: error_code,
    api: {
      operation: `${method} ${page_path}`,
      service: { name: 'dbvitals' },
      version: 'v1',
      request: request_id === null ? null : { uid: request_id },
      response: { code: status, error: error_code },
    },
    http_request: {
      http_method: HTTP_METHODS.includes(String(method)) ? method : null,
      user_agent,
      uid: request_id,
      url: { path: page_path, query_string: query_string === '' ? null : query_string },
    },
  };
}
