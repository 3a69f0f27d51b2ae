import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Exchange } from '../contract/recorded-exchanges.ts';
import { readExchanges, spoilt } from './exchanges.ts';
import { startPrism, type Violation } from './prism-proxy.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Prism, as a proxy for replayed answers, compares every exchange of the contract suite with `openapi.json`. The exchanges
 * are in the folder of `DBVITALS_TEST_EXCHANGES`, or come from a run of the suite. It reports answers that violate the
 * document, and requests that violate it but that the service accepts.
 *
 * Prism can't run between suite and service: it re-encodes bodies, merges slashes, and answers HEAD, unknown paths and its
 * own errors itself, which would hide the bytes, headers and paths that the suite checks.
 */
export async function judgeContract(): Promise<string[]> {
  const kept = process.env['DBVITALS_TEST_EXCHANGES'];
  if (kept !== undefined) return judgeFolder(kept);
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-exchanges-'));
  try {
    const suite = spawn('vitest', ['run', 'test/contract/', 'client/test/', '--reporter', 'dot'], {
      cwd: ROOT,
      env: { ...process.env, DBVITALS_TEST_EXCHANGES: folder },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(suite, 'close');
    const failed =
      code === 0 ? [] : ['the suite itself failed: run "npx vitest run test/contract/ client/test/"'];
    return [...failed, ...(await judgeFolder(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function judgeFolder(folder: string): Promise<string[]> {
  const { exchanges, all, skipped } = await readExchanges(folder);
  console.log(`${all} exchanges; ${exchanges.length} distinct ones are covered by the document. Left out:`);
  for (const [why, count] of skipped) console.log(`  ${count} ${why}`);
  return judge(exchanges);
}

async function judge(exchanges: Exchange[]): Promise<string[]> {
  const sample = exchanges.find(
    ({ status, path, headers }) =>
      status === 200 && path.includes('/ops/tickets') && !('content-encoding' in headers),
  );
  if (!sample) return ['the exchanges contain no list of tickets: were they recorded in a complete run?'];
  const wrong = spoilt(sample);
  const served = [...exchanges, ...wrong];
  const proxy = await startPrism(served);
  try {
    const found: string[][] = [];
    const queue = served.entries();
    const worker = async () => {
      for (const [at, exchange] of queue) found[at] = complaints(exchange, await proxy.ask(at));
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    // Prism must find the invalid lists, or it checks nothing.
    const missed = wrong.flatMap((_, way) => (found[exchanges.length + way]?.length === 0 ? [way + 1] : []));
    return [
      ...found.slice(0, exchanges.length).flat(),
      ...missed.map((way) => `Prism did not find invalid list ${way}`),
    ];
  } finally {
    await proxy.stop();
  }
}

function complaints({ method, path, status }: Exchange, told: Violation[]): string[] {
  // A request that violates the document and is rejected is correct.
  const wrong = told.filter(({ location }) => location[0] === 'response' || status < 400);
  return wrong.map(
    ({ location, message }) => `${method} ${path.slice(0, 200)} ${status}: ${location.join('.')} ${message}`,
  );
}
