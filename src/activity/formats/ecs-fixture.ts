import { isIP } from 'node:net';

// Facts of ECS 8.11 (elastic/ecs, generated/ecs/ecs_flat.yml; the same in the npm package @elastic/ecs 8.11.5): the fields that documents
// use, each with its type, and the values that some allow. What does not stand here is refused, also if the schema has it: add its fact first.

type FieldType = 'date' | 'keyword' | 'keywords' | 'ip' | 'ips' | 'long' | 'match_only_text' | 'wildcard';

const FIELDS: Readonly<Record<string, FieldType>> = {
  '@timestamp': 'date',
  message: 'match_only_text',
  'ecs.version': 'keyword',
  'event.kind': 'keyword',
  'event.category': 'keywords',
  'event.type': 'keywords',
  'event.action': 'keyword',
  'event.outcome': 'keyword',
  'event.id': 'keyword',
  'event.sequence': 'long',
  'event.severity': 'long',
  'event.provider': 'keyword',
  'event.module': 'keyword',
  'event.dataset': 'keyword',
  'organization.id': 'keyword',
  'service.type': 'keyword',
  'url.path': 'wildcard',
  'url.query': 'keyword',
  'source.ip': 'ip',
  'user.id': 'keyword',
  'user.name': 'keyword',
  'user.target.id': 'keyword',
  'user.target.name': 'keyword',
  'user_agent.original': 'keyword',
  'related.ip': 'ips',
  'related.user': 'keywords',
  'http.request.method': 'keyword',
  'http.request.id': 'keyword',
  'http.response.status_code': 'long',
  'error.code': 'keyword',
};

/** Of the schema, and those by which our documents are found. */
const REQUIRED = ['@timestamp', 'ecs.version', 'event.kind', 'event.action', 'event.id', 'event.dataset'];

/** The categories of events, with the types that each expects. */
const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
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

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'event.kind': ['alert', 'asset', 'enrichment', 'event', 'metric', 'state', 'pipeline_error', 'signal'],
  'event.category': Object.keys(CATEGORIES),
  'event.type': [
    'access',
    'admin',
    'allowed',
    'change',
    'connection',
    'creation',
    'deletion',
    'denied',
    'end',
    'error',
    'group',
    'indicator',
    'info',
    'installation',
    'protocol',
    'start',
    'user',
  ],
  'event.outcome': ['failure', 'success', 'unknown'],
};

/** The schema leaves names that are no field of its own to their owner, in an object of the owner's name. */
const OWN = 'dbvitals';

/** What is wrong with an ECS document by the published schema, one sentence each: also each field that the judge does not know. */
export function ecsProblems(document: object): string[] {
  const fields = new Map(flatten(document, ''));
  const categories = [fields.get('event.category') ?? []].flat();
  const types = [fields.get('event.type') ?? []].flat();
  const expected = categories.flatMap((category) => CATEGORIES[String(category)] ?? []);
  return [
    ...REQUIRED.filter((name) => [undefined, ''].includes(fields.get(name) as undefined)).map(
      (name) => `${name} is required`,
    ),
    ...[...fields].flatMap(([name, value]) => fieldProblems(name, value)),
    ...(types.length > 0 && categories.length > 0 ? [] : ['event.category or event.type is empty']),
    ...types
      .filter((type) => !expected.includes(String(type)))
      .map((type) => `${type} is no type of ${categories.join()}`),
  ];
}

/** Each field with its whole name. A list is a value. What stands in our own object is not the schema's. */
function flatten(value: object, path: string): [name: string, value: unknown][] {
  return Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
    const whole = `${path}${name}`;
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return [[whole, each]];
    return whole === OWN ? [] : flatten(each, `${whole}.`);
  });
}

function fieldProblems(name: string, value: unknown): string[] {
  const type = FIELDS[name];
  if (type === undefined) return [`${name} is no field that the judge knows`];
  const isList = type.endsWith('s');
  if (isList !== Array.isArray(value)) return [`${name} is ${isList ? 'no list' : 'a list'}`];
  const allowed = ALLOWED[name];
  return [value].flat().flatMap((each) => {
    if (!isOfType(each, isList ? type.slice(0, -1) : type)) return [`${name} is no ${type}`];
    return allowed === undefined || allowed.includes(String(each)) ? [] : [`${each} is no value of ${name}`];
  });
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'long') return Number.isSafeInteger(value);
  if (typeof value !== 'string') return false;
  if (type === 'date') return !Number.isNaN(Date.parse(value));
  return type !== 'ip' || isIP(value) !== 0;
}
