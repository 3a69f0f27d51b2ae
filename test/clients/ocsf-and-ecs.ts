import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ecsProblems } from '../../src/activity/formats/ecs-fixture.ts';
import { entryProblems } from '../../src/activity/formats/entry-fixture.ts';
import { ocsfProblems } from '../../src/activity/formats/ocsf-fixture.ts';
import type { ShownEntry } from '../../src/activity/formats/shown-entry.ts';
import type { SampleService } from './sample-service.ts';

/**
 * Runs `activity tail` in each format on the sample data's entries, and on one of each change by a command. Each entry must be as the
 * catalogue says, and each event as its schema requires.
 */
export async function mapEntries(service: SampleService): Promise<string[]> {
  const changed = await makeChanges(service);
  const accounts = [
    { url: service.origin, key: service.key },
    { url: service.origin, key: changed },
  ];
  const problems: string[] = [];
  for (const account of accounts) {
    const entries = tail<ShownEntry>(account, 'native');
    const kinds = new Set(entries.map(({ action_type }) => action_type));
    console.log(`${entries.length} entries of ${kinds.size} kinds`);
    problems.push(...entries.flatMap(entryProblems));
    problems.push(...tail<object>(account, 'ocsf').flatMap(ocsfProblems));
    problems.push(...tail<object>(account, 'ecs').flatMap(ecsProblems));
  }
  return [...new Set(problems)];
}

const PROGRAM = join(import.meta.dirname, '../../src/dbvitals.ts');

/** The whole log of the key's account, as the command prints it. */
function tail<Line>({ url, key }: { url: string; key: string }, format: string): Line[] {
  const args = ['activity', 'tail', '--url', url, '--after-id', '0', '--format', format];
  const { status, stdout, stderr } = spawnSync(PROGRAM, args, {
    env: { ...process.env, DBVITALS_API_KEY: key },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`activity tail: ${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
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
  const person = ['--name', 'Ada', '--email', 'ada@example.com', '--role', 'admin'];
  const member = await command<{ id: number }>('member', 'add', ...ours, ...person);
  await command('member', 'change', `${member.id}`, '--role', 'viewer');
  await command('member', 'remove', `${member.id}`);
  await command('account', 'change', `${account.id}`, '--name', 'Renamed');
  return key;
}
