import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/integrations');

/** The page's picture, which `WRITE_PICTURES=1 npm run test:clients -- five-minutes` takes again. */
const PICTURE = join(PAGES, 'five-minutes/cache-hit-ratio.svg');
/** For a person, most of it is reading: the commands must leave the time for that. */
const LONGEST_S = 60;

const ENVIRONMENTS = ['production', 'staging', 'test'];

/** A new user with only a key follows the page block by block, in one shell, and has a chart with a line for each environment. */
export async function chartFromKey(service: SampleService): Promise<string[]> {
  needPackages('curl', 'jq');
  const { data } = await service.read<{ data: { id: number; name: string }[] }>('/api/v1/health/connections');
  const measured = data.filter(({ name }) => name !== 'not yet measured');
  for (const [n, environment] of ENVIRONMENTS.entries())
    await service.command('connection', 'change', `${measured[n]?.id}`, '--tag', `env:${environment}`);
  const { key } = await service.newKey('five minutes');
  const folder = service.folder('five-minutes');
  copyFileSync(join(PAGES, 'five-minutes/chart.sh'), join(folder, 'chart.sh'));
  const page = readFileSync(join(PAGES, 'five-minutes.md'), 'utf8');
  const blocks = [...page.matchAll(/(?:^ {4}.+\n)+/gm)].map(([block]) => block.replaceAll(/^ {4}/gm, ''));
  const script = blocks
    .join('echo ----\n')
    .replace('<API_KEY>', key)
    .replace('https://dbvitals.example.com', service.origin)
    .replace('/connections/1/', `/connections/${measured[0]?.id}/`);
  const env = { PATH: process.env['PATH'], HOME: folder };
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env,
    // Bash reads bashrc where its input is a socket.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const wrong = status === 0 && stderr === '' ? [] : [`The page's commands ended with ${status}: ${stderr}`];
  const seconds = (performance.now() - began) / 1_000;
  if (seconds > LONGEST_S) wrong.push(`the commands took ${Math.round(seconds)} s`);
  const [, databases = '', latest = '', , metrics = ''] = stdout.split('----\n');
  if (!databases.includes('env:production')) wrong.push(`no environment among the databases: ${databases}`);
  if (!/^0\.\d+\t/m.test(latest)) wrong.push(`no latest value: ${latest}`);
  if (!metrics.split('\n').includes('cache_hit_ratio')) wrong.push(`no cache_hit_ratio among ${metrics}`);
  const chart = readFileSync(join(folder, 'cache-hit-ratio.svg'), 'utf8');
  for (const environment of [...ENVIRONMENTS, 'none'])
    if (!RegExp(`>${environment} 0\\.\\d+</text>`).test(chart)) wrong.push(`the chart lacks ${environment}`);
  const lines = [...chart.matchAll(/points="([^"]+)"/g)].map(([, points = '']) => points.split(' ').length);
  if (lines.length !== 4 || lines.some((points) => points < 20)) wrong.push(`the lines have ${lines} points`);
  if (process.env['WRITE_PICTURES'] && wrong.length === 0) writeFileSync(PICTURE, chart);
  console.log(`five-minutes: the page's commands took ${seconds.toFixed(1)} s`);
  return wrong;
}
