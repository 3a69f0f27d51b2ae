import { Ajv } from 'ajv';
import { type ActionType, CATALOGUE, kindOfAction } from '../catalogue/catalogue.ts';
import type { ShownEntry } from './shown-entry.ts';

// Facts of the published schemas: what a class requires, and the values of its enumerations. OCSF 1.3.0: ocsf/ocsf-schema,
// events/base_event, iam/{authentication,account_change}, application/{api_activity,web_resources_activity}, objects/*.
// ECS 8.11: elastic/ecs, schemas/event.yml.

const BASE = [
  'activity_id',
  'category_uid',
  'class_uid',
  'metadata.product',
  'metadata.version',
  'severity_id',
  'time',
  'type_uid',
];

interface ClassFacts {
  category: number;
  required: readonly string[];
  /** At least one of each. */
  oneOf: readonly (readonly string[])[];
  activities: readonly number[];
}

const OCSF_CLASSES: Readonly<Record<number, ClassFacts>> = {
  3001: {
    category: 3,
    required: ['user'],
    oneOf: [],
    activities: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 99],
  },
  3002: {
    category: 3,
    required: ['user'],
    oneOf: [['service', 'dst_endpoint']],
    activities: [0, 1, 2, 3, 4, 5, 6, 99],
  },
  6001: { category: 6, required: ['web_resources'], oneOf: [], activities: [0, 1, 2, 3, 4, 5, 6, 7, 8, 99] },
  6003: {
    category: 6,
    required: ['actor', 'api.operation', 'src_endpoint'],
    oneOf: [],
    activities: [0, 1, 2, 3, 4, 99],
  },
};

const USER = ['account', 'name', 'uid'];
const ENDPOINT = [
  'ip',
  'uid',
  'name',
  'hostname',
  'svc_name',
  'instance_uid',
  'interface_uid',
  'interface_name',
];

// Each where it is: at least one of the attributes.
const OCSF_OBJECTS: Readonly<Record<string, readonly string[]>> = {
  user: USER,
  'actor.user': USER,
  actor: ['process', 'user', 'invoked_by', 'session', 'app_name', 'app_uid'],
  src_endpoint: ENDPOINT,
  dst_endpoint: ENDPOINT,
  'web_resources.0': ['name', 'uid', 'url_string'],
  'api.request': ['uid'],
  'api.service': ['name', 'uid'],
};

const OCSF_ENUMS: Readonly<Record<string, readonly number[]>> = {
  severity_id: [0, 1, 2, 3, 4, 5, 6, 99],
  status_id: [0, 1, 2, 99],
  'actor.user.type_id': [0, 1, 2, 3, 4, 99],
  'user.type_id': [0, 1, 2, 3, 4, 99],
  auth_protocol_id: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99],
};

/** What is wrong with an OCSF event, one sentence each. */
export function ocsfProblems(event: object): string[] {
  const facts = OCSF_CLASSES[Number(valueAt(event, 'class_uid'))];
  if (facts === undefined) return ['its class is unknown'];
  const activity = Number(valueAt(event, 'activity_id'));
  const lacks = [...BASE, ...facts.required].filter((path) => valueAt(event, path) === undefined);
  const empty = Object.entries(OCSF_OBJECTS)
    .filter(
      ([path, names]) =>
        isObject(valueAt(event, path)) && !names.some((name) => hasText(event, `${path}.${name}`)),
    )
    .map(([path]) => path);
  const wrong = Object.entries(OCSF_ENUMS)
    .filter(
      ([path, values]) =>
        valueAt(event, path) !== undefined && !values.includes(Number(valueAt(event, path))),
    )
    .map(([path]) => path);
  const isTimed = Number.isInteger(valueAt(event, 'time'));
  const isTyped = valueAt(event, 'type_uid') === Number(valueAt(event, 'class_uid')) * 100 + activity;
  const isNamed = activity !== 99 || hasText(event, 'activity_name');
  return [
    ...lacks.map((path) => `${path} is required`),
    ...facts.oneOf
      .filter((names) => !names.some((name) => valueAt(event, name)))
      .map((names) => `one of ${names.join()}`),
    ...[...empty, ...wrong].map((path) => `${path} is not valid`),
    ...(facts.activities.includes(activity) ? [] : [`activity ${activity} is not of the class`]),
    ...(valueAt(event, 'category_uid') === facts.category ? [] : ['category_uid is not valid']),
    ...(isTimed && isTyped && isNamed ? [] : ['time, type_uid or activity_name is not valid']),
  ];
}

const ECS_TYPES: Readonly<Record<string, readonly string[]>> = {
  api: [
    'access',
    'admin',
    'allowed',
    'change',
    'creation',
    'deletion',
    'denied',
    'end',
    'info',
    'start',
    'user',
  ],
  authentication: ['start', 'end', 'info'],
  configuration: ['access', 'change', 'creation', 'deletion', 'info'],
  database: ['access', 'change', 'info', 'error'],
  iam: ['admin', 'change', 'creation', 'deletion', 'group', 'info', 'user'],
};

const ECS_REQUIRED = ['@timestamp', 'ecs.version', 'event.action', 'event.id', 'event.dataset'];

/** What is wrong with an ECS document, one sentence each. */
export function ecsProblems(document: object): string[] {
  const categories = valueAt(document, 'event.category') as string[];
  const types = valueAt(document, 'event.type') as string[];
  const allowed = new Set(categories.flatMap((category) => ECS_TYPES[category] ?? []));
  const outcome = String(valueAt(document, 'event.outcome'));
  return [
    ...ECS_REQUIRED.filter((path) => !hasText(document, path)).map((path) => `${path} is required`),
    ...types
      .filter((type) => !allowed.has(type))
      .map((type) => `${type} is not a type of ${categories.join()}`),
    ...(types.length > 0 && categories.length > 0 ? [] : ['event.category or event.type is empty']),
    ...(valueAt(document, 'event.kind') === 'event' ? [] : ['event.kind is not valid']),
    ...(['success', 'failure', 'unknown'].includes(outcome) ? [] : ['event.outcome is not valid']),
  ];
}

const ajv = new Ajv({ strict: false, formats: { 'date-time': true, int64: true } });

/** What is wrong with an entry by the catalogue: its type is unknown, or a property is missing, unknown or of another type. */
export function entryProblems({ action_type, properties }: ShownEntry): string[] {
  if (kindOfAction(action_type) === null) return [`${action_type} has no row in the catalogue`];
  const { properties: schema } = CATALOGUE[action_type as ActionType];
  const known = new Set([...Object.keys(schema.properties), ...ANY]);
  const unknown = Object.keys(properties).filter((name) => !known.has(name) && !OPEN.has(action_type));
  const validate = ajv.compile(schema);
  const wrong = validate(properties) ? [] : (validate.errors ?? []);
  return [
    ...wrong.map(({ instancePath, message }) => `${action_type}${instancePath} ${message}`),
    ...unknown.map((name) => `${action_type} has a property ${name}, which is not in the catalogue`),
  ];
}

const ANY = ['actor', 'actor_member_id', 'actor_name', 'source_ip', 'session_id'];
/** Has all settings of the rule. */
const OPEN = new Set(['alert_rule_added']);

function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, name) => (isObject(inner) ? Reflect.get(inner, name) : undefined), value);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const hasText = (value: unknown, path: string) =>
  ![undefined, null, ''].includes(valueAt(value, path) as null);
