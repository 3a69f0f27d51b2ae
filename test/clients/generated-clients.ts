import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

const PAGE = join(import.meta.dirname, '../../docs/integrations/generated-clients.md');
const PROGRAMS = PAGE.replace(/\.md$/, '');
const BIN = join(import.meta.dirname, 'node_modules/.bin');

/** Requests per minute: less than the fleet and the pages of tickets. */
const LIMIT = 2;

type Run = (program: string, args: readonly string[], keyFile?: string) => Promise<Ended>;

interface Ended {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** The commands of the page make types from the service's own document, and programs with them print what the API answers. */
export async function runGeneratedClients(service: SampleService): Promise<string[]> {
  needPackages('python3-dateutil', 'golang-go');
  const cwd = service.folder('generated-clients');
  const run = runIn(cwd, service.origin);
  const commands = [...readFileSync(PAGE, 'utf8').matchAll(/^ {4}npx (quicktype .*)$/gm)].map(
    ([, command = '']) => command.replace('https://dbvitals.example.com', service.origin),
  );
  if (commands.length !== 2) return [`the page has ${commands.length} commands of quicktype, not 2`];
  for (const command of commands) {
    const { ok, stderr } = await run('sh', ['-c', join(BIN, command)]);
    if (!ok) return [`${command}: ${stderr}`];
  }
  for (const name of ['open_tickets.py', 'open_tickets.go'])
    copyFileSync(join(PROGRAMS, name), join(cwd, name));
  const { keyFiles, expected } = await limitedAccount(service, cwd);
  const programs = [
    ['python3', 'open_tickets.py'],
    ['go', 'run', 'open_tickets.go', 'dbvitals.go'],
  ] as const;
  const wrong = await Promise.all(
    programs.map(async ([program, ...args], at) => {
      const { ok, stdout, stderr } = await run(program, args, keyFiles[at]);
      const isRight = ok && stdout.trim() === expected.join('\n');
      return isRight
        ? []
        : [`${args.join(' ')} printed:\n${stdout}${stderr}\ninstead of:\n${expected.join('\n')}`];
    }),
  );
  return [...wrong.flat(), ...(await findMisuses(cwd, run))];
}

function runIn(cwd: string, origin: string): Run {
  return async (program, args, keyFile = '') => {
    const go = { GO111MODULE: 'off', GOCACHE: join(cwd, 'cache'), GOPATH: cwd };
    const env = { ...process.env, ...go, DBVITALS_URL: origin, DBVITALS_KEY_FILE: keyFile };
    try {
      return { ok: true, ...(await promisify(execFile)(program, args, { cwd, env })) };
    } catch (error) {
      const { stdout = '', stderr = '' } = error as Partial<Ended>;
      return { ok: false, stdout, stderr: stderr || String(error) };
    }
  };
}

/** A new account whose limit both programs reach, each with a key of its own, and the lines that they should print. */
async function limitedAccount(service: SampleService, cwd: string) {
  const plan = ['--plan', 'enterprise', '--requests-per-minute', `${LIMIT}`];
  const { id } = await service.command<{ id: number }>('account', 'create', '--name', 'Printed', ...plan);
  await service.command('sample-data', '--account', `${id}`, '--seed', '1', '--tickets', '150');
  const keys = await Promise.all(
    ['python', 'go', 'expected', 'expected, tickets'].map((name) =>
      service.command<{ key: string }>('key', 'create', '--account', `${id}`, '--name', name),
    ),
  );
  const keyFiles = keys.slice(0, 2).map(({ key }, at) => {
    const file = join(cwd, `key-${at}`);
    writeFileSync(file, `${key}\n`, { mode: 0o600 });
    return file;
  });
  const ask = async (path: string, at: number) => {
    const headers = { authorization: `Bearer ${keys[at]?.key}` };
    const answer = await fetch(`${service.origin}/api/v1/${path}`, { headers });
    return ((await answer.json()) as { data: Record<string, string | number | null>[] }).data;
  };
  const fleet = await ask('health/fleet', 2);
  const tickets = await ask('ops/tickets?status=open&per_page=100', 3);
  if (tickets.length <= 20) throw new Error('The sample data has too few open tickets for a second page.');
  const expected = [
    ...fleet.map(({ name, score, status }) => `${name}: ${score ?? 'no score'}, ${status}`),
    ...tickets.map(
      ({ id, first_seen_at, severity, title }) =>
        `${id} ${`${first_seen_at}`.slice(0, 10)} ${severity} ${title}`,
    ),
  ];
  return { keyFiles, expected };
}

/** A field that the answer has not: it must not compile in Go, and an answer without a field must be an error in Python. */
async function findMisuses(cwd: string, run: Run): Promise<string[]> {
  const go = readFileSync(join(cwd, 'open_tickets.go'), 'utf8').replace(
    'entry.Score != nil',
    'entry.Scores != nil',
  );
  writeFileSync(join(cwd, 'misuse.go'), go);
  const built = await run('go', ['build', '-o', 'misuse', 'misuse.go', 'dbvitals.go']);
  const lacking =
    'from dbvitals import TicketMeta; TicketMeta.from_dict({"total": 1, "page": 1, "per_page": 1})';
  const parsed = await run('python3', ['-c', lacking]);
  return [
    ...(built.ok || !built.stderr.includes('Scores') ? [`go lets entry.Scores pass: ${built.stderr}`] : []),
    ...(parsed.ok || !parsed.stderr.includes('Error') ? ['python lets meta without has_more pass'] : []),
  ];
}
