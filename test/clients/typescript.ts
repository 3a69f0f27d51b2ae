import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SampleService } from './sample-service.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'docs/integrations/typescript/print-fleet.ts');
const STRICT = [
  '--strict',
  '--noUncheckedIndexedAccess',
  '--exactOptionalPropertyTypes',
  '--noEmit',
  '--target',
  'es2024',
  '--module',
  'nodenext',
  '--allowImportingTsExtensions',
  '--typeRoots',
  join(ROOT, 'node_modules/@types'),
  '--types',
  'node',
];

/** openapi-typescript's types of `openapi.json` compile, and a program that uses them runs on real answers. */
export async function generateTypes(service: SampleService): Promise<string[]> {
  const cwd = service.folder('typescript');
  const run = (program: string, args: string[], env: Record<string, string> = {}) =>
    spawnSync(program, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env } });
  const bin = join(import.meta.dirname, 'node_modules/.bin');
  const made = run(join(bin, 'openapi-typescript'), [join(ROOT, 'openapi.json'), '-o', 'dbvitals.d.ts']);
  if (made.status !== 0) return [`openapi-typescript: ${made.stderr}`];
  copyFileSync(PROGRAM, join(cwd, 'print-fleet.ts'));
  writeFileSync(join(cwd, 'package.json'), '{"type":"module"}');
  const wrong: string[] = [];

  // With the generator's TypeScript and with this project's.
  const compilers = [join(bin, 'tsc'), join(ROOT, 'node_modules/.bin/tsc')];
  for (const tsc of compilers) {
    const { status, stdout } = run(tsc, [...STRICT, 'print-fleet.ts']);
    if (status !== 0) wrong.push(...stdout.trim().split('\n'));
  }
  const program = readFileSync(PROGRAM, 'utf8');
  const misuses: [string, string][] = [
    ['score?.toFixed(0)', 'score.toFixed(0)'],
    ['summary.critical', 'summary.criticals'],
    ["status: 'open'", "status: 'closed'"],
    ['per_page: 5', 'limit: 5'],
    ['/api/v1/health/fleet', '/api/v1/health/fleets'],
  ];
  for (const [right, misuse] of misuses) {
    writeFileSync(join(cwd, 'misuse.ts'), program.replace(right, misuse));
    if (run(join(bin, 'tsc'), [...STRICT, 'misuse.ts']).status === 0) wrong.push(`tsc lets ${misuse} pass`);
  }

  const env = { DBVITALS_URL: service.origin, DBVITALS_KEY_FILE: service.keyFile };
  const { status, stdout, stderr } = run(process.execPath, ['print-fleet.ts'], env);
  if (status !== 0) wrong.push(stderr);
  for (const line of [
    /^not yet measured: no score, never_run$/m,
    /: \d+, healthy$/m,
    /^1 of 11 critical$/m,
  ]) {
    if (!line.test(stdout)) wrong.push(`no line is ${line} in ${stdout}`);
  }
  return wrong;
}
