// More than 300 lines, because the facts of a schema stand together with the judge that reads them.
import { isIP } from 'node:net';

// Facts of OCSF 1.3.0 (ocsf/ocsf-schema: events/base_event, events/iam, events/application, objects, dictionary) about the classes that
// entries become: each attribute that they use with its type, what is required, and the values of enumerations with their captions.
// What does not stand here is refused, also if the schema has it: add its fact first.

type Enumeration = Readonly<Record<string, string>>;

/** `object X` and `list X`: an object, and a list of objects, of the type X. */
type AttributeType =
  | 'string'
  | 'strings'
  | 'integer'
  | 'boolean'
  | 'ip'
  | 'json'
  | `object ${string}`
  | `list ${string}`;

interface ObjectFacts {
  attributes: Readonly<Record<string, AttributeType | Enumeration>>;
  required?: readonly string[];
  /** At least one of them. */
  oneOf?: readonly string[];
}

interface ClassFacts extends ObjectFacts {
  name: string;
  category: number;
  activities: Enumeration;
  /** Attributes that the class has only if the event names the profile. */
  profiles?: Readonly<Record<string, readonly string[]>>;
}

const CATEGORIES: Enumeration = { 3: 'Identity & Access Management', 6: 'Application Activity' };

const ANY_ACTIVITY = { 0: 'Unknown', 99: 'Other' };

const BASE: ObjectFacts = {
  attributes: {
    class_uid: 'integer',
    class_name: 'string',
    category_uid: 'integer',
    category_name: 'string',
    activity_id: 'integer',
    activity_name: 'string',
    type_uid: 'integer',
    type_name: 'string',
    severity_id: {
      0: 'Unknown',
      1: 'Informational',
      2: 'Low',
      3: 'Medium',
      4: 'High',
      5: 'Critical',
      6: 'Fatal',
      99: 'Other',
    },
    severity: 'string',
    status_id: { 0: 'Unknown', 1: 'Success', 2: 'Failure', 99: 'Other' },
    status: 'string',
    status_code: 'string',
    status_detail: 'string',
    time: 'integer',
    message: 'string',
    metadata: 'object metadata',
    unmapped: 'json',
  },
  required: ['activity_id', 'category_uid', 'class_uid', 'metadata', 'severity_id', 'time', 'type_uid'],
};

const CLASSES: Readonly<Record<number, ClassFacts>> = {
  3001: {
    name: 'Account Change',
    category: 3,
    activities: {
      ...ANY_ACTIVITY,
      1: 'Create',
      2: 'Enable',
      3: 'Password Change',
      4: 'Password Reset',
      5: 'Disable',
      6: 'Delete',
      7: 'Attach Policy',
      8: 'Detach Policy',
      9: 'Lock',
      10: 'MFA Factor Enable',
      11: 'MFA Factor Disable',
    },
    attributes: { actor: 'object actor', user: 'object user', src_endpoint: 'object network_endpoint' },
    required: ['user'],
  },
  3002: {
    name: 'Authentication',
    category: 3,
    activities: {
      ...ANY_ACTIVITY,
      1: 'Logon',
      2: 'Logoff',
      3: 'Authentication Ticket',
      4: 'Service Ticket Request',
      5: 'Service Ticket Renew',
      6: 'Preauth',
    },
    attributes: {
      actor: 'object actor',
      user: 'object user',
      src_endpoint: 'object network_endpoint',
      dst_endpoint: 'object network_endpoint',
      service: 'object service',
      is_remote: 'boolean',
      auth_protocol: 'string',
      auth_protocol_id: {
        0: 'Unknown',
        1: 'NTLM',
        2: 'Kerberos',
        3: 'Digest',
        4: 'OpenID',
        5: 'SAML',
        6: 'OAUTH 2.0',
        7: 'PAP',
        8: 'CHAP',
        9: 'EAP',
        10: 'RADIUS',
        99: 'Other',
      },
    },
    required: ['user'],
    oneOf: ['service', 'dst_endpoint'],
  },
  6001: {
    name: 'Web Resources Activity',
    category: 6,
    activities: {
      ...ANY_ACTIVITY,
      1: 'Create',
      2: 'Read',
      3: 'Update',
      4: 'Delete',
      5: 'Search',
      6: 'Import',
      7: 'Export',
      8: 'Share',
    },
    attributes: {
      actor: 'object actor',
      src_endpoint: 'object network_endpoint',
      dst_endpoint: 'object network_endpoint',
      web_resources: 'list web_resource',
    },
    required: ['web_resources'],
    profiles: { host: ['actor'] },
  },
  6003: {
    name: 'API Activity',
    category: 6,
    activities: { ...ANY_ACTIVITY, 1: 'Create', 2: 'Read', 3: 'Update', 4: 'Delete' },
    attributes: {
      actor: 'object actor',
      src_endpoint: 'object network_endpoint',
      dst_endpoint: 'object network_endpoint',
      api: 'object api',
      http_request: 'object http_request',
      resources: 'list resource_details',
    },
    required: ['actor', 'api', 'src_endpoint'],
  },
};

const NAME_OR_UID = ['name', 'uid'];

const OBJECTS: Readonly<Record<string, ObjectFacts>> = {
  metadata: {
    attributes: {
      version: 'string',
      product: 'object product',
      profiles: 'strings',
      log_name: 'string',
      event_code: 'string',
      uid: 'string',
      sequence: 'integer',
      original_time: 'string',
      tenant_uid: 'string',
    },
    required: ['product', 'version'],
  },
  product: {
    attributes: { name: 'string', uid: 'string', vendor_name: 'string' },
    required: ['vendor_name'],
    oneOf: NAME_OR_UID,
  },
  actor: {
    attributes: { app_name: 'string', session: 'object session', user: 'object user' },
    oneOf: ['process', 'user', 'invoked_by', 'session', 'app_name', 'app_uid'],
  },
  session: { attributes: { uid: 'string' } },
  user: {
    attributes: {
      uid: 'string',
      name: 'string',
      credential_uid: 'string',
      type: 'string',
      type_id: { 0: 'Unknown', 1: 'User', 2: 'Admin', 3: 'System', 99: 'Other' },
    },
    oneOf: ['account', 'name', 'uid'],
  },
  network_endpoint: {
    attributes: { ip: 'ip', svc_name: 'string' },
    oneOf: ['ip', 'uid', 'name', 'hostname', 'svc_name', 'instance_uid', 'interface_uid', 'interface_name'],
  },
  service: { attributes: { name: 'string', uid: 'string' }, oneOf: NAME_OR_UID },
  api: {
    attributes: {
      operation: 'string',
      service: 'object service',
      version: 'string',
      request: 'object request',
      response: 'object response',
    },
    required: ['operation'],
  },
  request: { attributes: { uid: 'string' }, required: ['uid'] },
  response: { attributes: { code: 'integer', error: 'string' } },
  http_request: {
    attributes: {
      http_method: toEnumeration('CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'TRACE'),
      user_agent: 'string',
      uid: 'string',
      url: 'object url',
    },
  },
  url: { attributes: { path: 'string', query_string: 'string' }, oneOf: ['url_string', 'path'] },
  web_resource: { attributes: { name: 'string', uid: 'string', type: 'string' }, oneOf: NAME_OR_UID },
  resource_details: { attributes: { name: 'string', uid: 'string', type: 'string' }, oneOf: NAME_OR_UID },
};

function toEnumeration(...values: string[]): Enumeration {
  return Object.fromEntries(values.map((value) => [value, value]));
}

/** What is wrong with an OCSF event by the published schema, one sentence each: also each attribute that its class has not. */
export function ocsfProblems(event: object): string[] {
  const classUid = Number(Reflect.get(event, 'class_uid'));
  const facts = CLASSES[classUid];
  if (facts === undefined) return ['its class is unknown'];
  const { activity_id, activity_name, class_name, category_uid, category_name, type_uid, metadata } =
    event as Readonly<Record<string, unknown>>;
  const whole: ObjectFacts = {
    attributes: { ...BASE.attributes, ...facts.attributes },
    required: [...(BASE.required ?? []), ...(facts.required ?? [])],
    ...(facts.oneOf && { oneOf: facts.oneOf }),
  };
  const caption = facts.activities[Number(activity_id)];
  const named = isObject(metadata) ? [Reflect.get(metadata, 'profiles')].flat() : [];
  const withoutProfile = Object.entries(facts.profiles ?? {})
    .filter(([profile]) => !named.includes(profile))
    .flatMap(([profile, names]) => names.filter((name) => name in event).map((name) => [profile, name]));
  return [
    ...objectProblems(event, whole, ''),
    ...withoutProfile.map(([profile, name]) => `${name} needs the profile ${profile}`),
    ...(caption === undefined ? [`activity ${activity_id} is not of the class`] : []),
    ...siblingProblems('activity_name', Number(activity_id), caption, activity_name),
    ...(class_name === facts.name ? [] : ['class_name is not the name of the class']),
    ...(category_uid === facts.category ? [] : ['category_uid is not that of the class']),
    ...(category_name === CATEGORIES[facts.category] ? [] : ['category_name is not that of the category']),
    ...(type_uid === classUid * 100 + Number(activity_id) ? [] : ['type_uid is not class and activity']),
  ];
}

function objectProblems(value: object, { attributes, required, oneOf }: ObjectFacts, path: string): string[] {
  const lacks = (required ?? []).filter((name) => !hasValue(value, name));
  return [
    ...Object.entries(value).flatMap(([name, each]) => {
      const type = attributes[name];
      if (type === undefined) return [`${path}${name} is no attribute that the judge knows`];
      if (typeof type === 'string') return valueProblems(each, type, `${path}${name}`);
      return enumerationProblems(value, name, type, `${path}${name}`);
    }),
    ...lacks.map((name) => `${path}${name} is required`),
    ...(oneOf === undefined || oneOf.some((name) => hasValue(value, name))
      ? []
      : [`${path} has none of ${oneOf.join()}`]),
  ];
}

function valueProblems(value: unknown, type: AttributeType, path: string): string[] {
  const [kind, name = ''] = type.split(' ');
  const facts = OBJECTS[name] ?? { attributes: {} };
  if (kind === 'list') {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return value.flatMap((each, at) => valueProblems(each, `object ${name}`, `${path}.${at}`));
  }
  if (kind === 'object')
    return isObject(value) && !Array.isArray(value)
      ? objectProblems(value, facts, `${path}.`)
      : [`${path} is no object`];
  const isOfType =
    (kind === 'json' && isObject(value)) ||
    (kind === 'strings' && Array.isArray(value) && value.every((each) => typeof each === 'string')) ||
    (kind === 'integer' && Number.isSafeInteger(value)) ||
    (kind === 'boolean' && typeof value === 'boolean') ||
    (kind === 'ip' && typeof value === 'string' && isIP(value) !== 0) ||
    (kind === 'string' && typeof value === 'string');
  return isOfType ? [] : [`${path} is no ${kind}`];
}

/** An enumeration's value, and the attribute beside it with its caption. */
function enumerationProblems(parent: object, name: string, values: Enumeration, path: string): string[] {
  const value: unknown = Reflect.get(parent, name);
  const isInteger = name.endsWith('_id');
  if (typeof value !== (isInteger ? 'number' : 'string') || !Object.hasOwn(values, String(value)))
    return [`${path} is not of its enumeration`];
  if (!isInteger) return [];
  const sibling = name.slice(0, -3);
  return siblingProblems(sibling, Number(value), values[String(value)], Reflect.get(parent, sibling));
}

/** The caption of the value; of 99 it is the source's own word, which must be there. */
function siblingProblems(name: string, value: number, caption: string | undefined, said: unknown): string[] {
  if (value === 99) return typeof said === 'string' && said !== '' ? [] : [`${name} has no word of its own`];
  return said === caption ? [] : [`${name} is not the caption ${caption}`];
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const hasValue = (value: object, name: string) => ![undefined, null, ''].includes(Reflect.get(value, name));
