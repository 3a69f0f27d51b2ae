import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { median } from './median.ts';

// Measures how long storing a run holds the account's log, and how often it raises the account's generation, after which kept
// answers are read again: `node bench/head-hold.ts`. ` -- --root DIR` measures another checkout, to compare with.

const { values } = parseArgs({
  options: { root: { type: 'string', default: '.' }, runs: { type: 'string', default: '60' } },
});
const at = (path: string) => import(resolve(values.root, path));
const { startTestStore }: typeof import('../test/store.ts') = await at('test/store.ts');
const { runHealthCheck }: typeof import('../src/monitor/run.ts') = await at('src/monitor/run.ts');

const store = await startTestStore();
const holds: number[] = [];
store.writer.on('connect', (client: pg.PoolClient) => {
  const query = client.query.bind(client) as (...of: unknown[]) => Promise<unknown>;
  let locked = 0;
  const timed = async (...of: unknown[]) => {
    const answer = await query(...of);
    if (/from activity_head\s+where[^;]*for update/.test(String(of[0]))) locked = performance.now();
    if (of[0] === 'commit' && locked > 0) {
      holds.push(performance.now() - locked);
      locked = 0;
    }
    return answer;
  };
  client.query = timed as typeof client.query;
});
const key = await store.watched();
const generation = async () => {
  const { rows } = await store.writer.query('select generation from account where account_id = $1', [
    key.accountId,
  ]);
  return Number(rows[0]?.generation);
};
const root = await store.superuser();
await root.query(
  `do $$ begin for n in 1..40 loop execute format('create table t%s (id int primary key, a int)', n); end loop; end $$`,
);
for (let run = 0; run < 5; run++) await runHealthCheck(store.deps, key);
const before = await generation();
holds.length = 0;
const runs = Number(values.runs);
for (let run = 0; run < runs; run++) await runHealthCheck(store.deps, key);
const raised = ((await generation()) - before) / runs;
const sorted = holds.toSorted((a, b) => a - b);
const at10 = sorted[Math.floor(0.1 * sorted.length)] ?? 0;
const p95 = sorted[Math.floor(0.95 * sorted.length)] ?? 0;
console.log(
  `${holds.length} runs: the log was held ${median(holds).toFixed(2)} ms (median), ${at10.toFixed(2)} ms (fastest tenth), ${p95.toFixed(2)} ms (p95);`,
);
console.log(`each raised the account's generation by ${raised}`);
await store.stop();
process.exit();
