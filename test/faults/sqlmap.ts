import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needPackages } from '../clients/debian.ts';
import { type Extent, type Fault, Seen } from './fault.ts';
import { onStage, type Stage } from './stage.ts';
import { runTests } from './tests.ts';

// sqlmap inserts its texts at each *. Level 5 has all its payloads and boundaries; risk 3 adds those with OR.
const TARGETS = [
  '/api/v1/ops/tickets?status=open*&severity=critical*&connection_id=1*&from=2026-01-01*',
  '/api/v1/activity?action_type=api_request*&after_id=1*&order=asc*',
  '/api/v1/health/connections/1*/checks/latest',
];

/** sqlmap on the inputs of queries, and fast-check on every parameter. */
export const injection: Fault = {
  fault: 'injection: sqlmap level 5; fast-check over every parameter',
  figure: '0 findings; 0 answers of 500',
  async provoke(extent: Extent) {
    needPackages('sqlmap');
    const seen = await onStage(async (stage) => {
      await stage.command('sample-data', '--account', `${(await fresh(stage)).id}`, '--seed', '1');
      const result = new Seen();
      const folder = mkdtempSync(join(tmpdir(), 'dbvitals-sqlmap-'));
      try {
        for (const target of extent === 'short' ? TARGETS.slice(1, 2) : TARGETS) {
          const before = await requests(stage);
          const { said, code, cut } = await attack(stage, folder, target, extent === 'short' ? 60 : 150);
          const made = (await requests(stage)) - before;
          result
            .atLeast(made, 500, `${target.split('?')[0]}: requests${cut ? ' until its time was over' : ''}`)
            .holds('ran', cut || (code === 0 && /do not appear to be injectable/.test(said)))
            .none(
              found(said).length,
              `findings${found(said)
                .map((line) => ` (${line})`)
                .join('')}`,
            );
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      const failed = stage.service.output().match(/request failed/g) ?? [];
      return result.none(failed.length, 'answers of 500');
    });
    const tests = await runTests(['test/contract/fuzz.test.ts']);
    return seen.holds(`fast-check: ${tests}`, tests.reached);
  },
};

/** sqlmap's confirmed findings, without suspicions and false positives. */
function found(said: string): string[] {
  return said.match(/^.*(?:is vulnerable|identified the following injection point).*$/gm) ?? [];
}

// Sample data needs an account without entries.
function fresh(stage: Stage) {
  return stage.command<{ id: number }>('account', 'create', '--name', 'Sample', '--plan', 'enterprise');
}

async function requests(stage: Stage): Promise<number> {
  const [row] = await stage.query<{ n: number }>(
    'select max(id)::int as n from activity where account_id = $1',
    [stage.id],
  );
  return row?.n ?? 0;
}

async function attack(stage: Stage, folder: string, target: string, seconds: number) {
  const file = join(folder, 'request');
  const host = new URL(stage.service.origin).host;
  // The key is in a private file, never in an argument.
  writeFileSync(
    file,
    `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${stage.key}\r\n\r\n`,
    {
      mode: 0o600,
    },
  );
  const options = ['--level=5', '--risk=3', '--dbms=postgresql', '--technique=BEUSQ', '--threads=2'];
  const quiet = [
    '--batch',
    '--ignore-stdin',
    '--flush-session',
    '--disable-coloring',
    `--output-dir=${folder}`,
    '--ignore-code=*',
  ];
  const sqlmap = spawn('sqlmap', ['-r', file, ...options, ...quiet], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [sqlmap.stdout, sqlmap.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  let cut = false;
  const timer = setTimeout(() => {
    cut = true;
    sqlmap.kill('SIGKILL');
  }, seconds * 1_000);
  const [code] = await once(sqlmap, 'close');
  clearTimeout(timer);
  return { said, code, cut };
}
