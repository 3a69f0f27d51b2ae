import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

const PROGRAMS = join(import.meta.dirname, '../../docs/integrations/ocsf-and-ecs');

/** An entry of endpoint 6. */
interface Entry {
  id: number;
  action_type: string;
  properties: { status?: number };
  occurred_at: string;
}

/** Runs `ocsf.jq` and `ecs.jq` on the sample data's entries and on one entry of each change by a command. */
export async function mapEntries(service: SampleService): Promise<string[]> {
  needPackages('jq');
  const changed = await makeChanges(service);
  const entries = [
    ...(await readEntries(service.origin, service.key)),
    ...(await readEntries(service.origin, changed)),
  ];
  const kinds = new Set(entries.map(({ action_type }) => action_type));
  console.log(`${entries.length} entries of ${kinds.size} kinds`);
  const events = run('ocsf.jq', entries);
  const documents = run('ecs.jq', entries);
  return [
    ...(kinds.size < 14 ? [`only ${kinds.size} kinds of entries: ${[...kinds].join(', ')}`] : []),
    ...entries.flatMap((entry, at) => [
      ...wrongIn(entry, ocsfFields(entry), events[at]),
      ...wrongIn(entry, ecsFields(entry), documents[at]),
    ]),
  ];
}

/** Creates an account with rejected requests and every change by a command. Returns its key. */
async function makeChanges({ origin, command }: SampleService): Promise<string> {
  const account = await command<{ id: number }>(
    'account',
    'create',
    '--name',
    'Changes',
    '--plan',
    'enterprise',
  );
  const ours = ['--account', `${account.id}`];
  const newKey = (name: string) =>
    command<{ id: number; key: string }>('key', 'create', ...ours, '--name', name);
  const { key } = await newKey('changes');
  const headers = { authorization: `Bearer ${key}` };
  await fetch(`${origin}/api/v1/ops/tickets?status=%E2%98%83&page=a%26b`, { headers });
  await fetch(`${origin}/api/v1/ops/stats`, { method: 'POST', headers });
  const gone = await newKey('gone');
  await command('key', 'revoke', `${gone.id}`);
  await fetch(`${origin}/api/v1/ops/stats`, { headers: { authorization: `Bearer ${gone.key}` } });
  await command('key', 'regenerate', `${(await newKey('renewed')).id}`);
  const unreached = ['--name', 'for a while', '--url', 'postgres://watcher@127.0.0.1:1/shop'];
  const connection = await command<{ id: number }>('connection', 'add', ...ours, ...unreached);
  await command('check', 'run', '--connection', `${connection.id}`);
  await command('connection', 'change', `${connection.id}`, '--name', 'renamed');
  await command('connection', 'remove', `${connection.id}`);
  const person = ['--name', 'Ada', '--email', 'ada@example.com', '--role', 'owner'];
  const member = await command<{ id: number }>('member', 'add', ...ours, ...person);
  await command('member', 'change', `${member.id}`, '--role', 'viewer');
  await command('member', 'remove', `${member.id}`);
  await command('account', 'change', `${account.id}`, '--name', 'Renamed');
  return key;
}

async function readEntries(origin: string, key: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const after = entries.at(-1)?.id ?? 0;
    const answer = await fetch(`${origin}/api/v1/activity?order=asc&per_page=100&after_id=${after}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { data }: { data: Entry[] } = JSON.parse(await answer.text());
    entries.push(...data);
    if (data.length < 100) return entries;
  }
}

function run(program: string, entries: Entry[]): unknown[] {
  const { status, stdout, stderr } = spawnSync('/usr/bin/jq', ['-c', '-f', join(PROGRAMS, program)], {
    input: entries.map((entry) => JSON.stringify(entry)).join('\n'),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The expected value of a field, or a test for it. */
type Rule = string | number | ((value: unknown) => boolean);

const isText: Rule = (value) => typeof value === 'string' && value !== '';
const oneOf =
  (...allowed: unknown[]): Rule =>
  (value) =>
    allowed.includes(value);

// The class's required fields and constants, and OCSF's rule that `actor` and endpoints have one of several fields.
function ocsfFields({ id, action_type, properties, occurred_at }: Entry): Record<string, Rule> {
  const request = action_type === 'api_request';
  const refused = action_type === 'api_key_refused';
  const failed = refused || (request && (properties.status ?? 0) >= 400);
  const byKey = request || refused;
  return {
    class_uid: 6003,
    category_uid: 6,
    activity_id: request ? oneOf(1, 2) : oneOf(1, 3, 4, 99),
    severity_id: oneOf(1, 2, 3),
    status_id: failed ? 2 : 1,
    time: Date.parse(occurred_at),
    'metadata.version': '1.3.0',
    'metadata.product.name': 'dbvitals',
    'metadata.uid': `${id}`,
    [byKey ? 'actor.user.name' : 'actor.app_name']: isText,
    'api.operation': isText,
    [byKey ? 'src_endpoint.ip' : 'src_endpoint.svc_name']: isText,
    ...(request ? { 'http_request.url.path': isText, 'http_response.code': properties.status ?? 0 } : {}),
  };
}

function ecsFields({ id, action_type, properties, occurred_at }: Entry): Record<string, Rule> {
  const request = action_type === 'api_request';
  const refused = action_type === 'api_key_refused';
  const failed = refused || (request && (properties.status ?? 0) >= 400);
  return {
    '@timestamp': occurred_at,
    'ecs.version': '8.11.0',
    'event.kind': 'event',
    'event.category.0': oneOf('api', 'iam', 'configuration', 'database'),
    'event.type.0': oneOf('access', 'creation', 'change', 'deletion', 'info'),
    'event.outcome': failed ? 'failure' : 'success',
    'event.id': `${id}`,
    'event.action': action_type,
    ...(request || refused ? { 'source.ip': isText } : {}),
    ...(request ? { 'http.response.status_code': properties.status ?? 0 } : {}),
  };
}

function wrongIn({ id, action_type }: Entry, rules: Record<string, Rule>, mapped: unknown): string[] {
  const wrong = Object.entries(rules).flatMap(([path, rule]) => {
    const value = valueAt(mapped, path);
    const right = typeof rule === 'function' ? rule(value) : value === rule;
    return right ? [] : [`entry ${id} (${action_type}): ${path} is ${JSON.stringify(value)}`];
  });
  const [type, activity] = [valueAt(mapped, 'type_uid'), valueAt(mapped, 'activity_id')];
  const expected = 'class_uid' in rules ? 6003 * 100 + Number(activity) : undefined;
  return type === expected ? wrong : [...wrong, `entry ${id}: type_uid is ${type}, activity_id ${activity}`];
}

function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
      value,
    );
}
