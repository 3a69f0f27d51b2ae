import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { median } from './median.ts';

// Measures how long storing a run holds the account's log, and how often it raises the account's generation, after which kept
// answers are read again: `node bench/head-hold.ts`. `--root DIR` measures another checkout, to compare with, and `--watched 20`
// an account with 20 destinations and 20 alert rules of each kind of condition in turn.

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: '.' },
    runs: { type: 'string', default: '60' },
    watched: { type: 'string', default: '0' },
  },
});
const at = (path: string) => import(resolve(values.root, path));
const { startTestStore }: typeof import('../test/support/store.ts') = await at('test/support/store.ts');
const { runHealthCheck }: typeof import('../src/monitor/run.ts') = await at('src/monitor/run.ts');

// Metric, check, measure, operator and threshold.
const CONDITIONS = [
  ['score', null, null, '<', 1],
  ['unreachable_seconds', null, null, '>=', 600],
  ['findings_critical', null, null, '>=', 100],
  ['findings_warning', null, null, '>=', 100],
  ['measure', '', 'transactions_per_second', '>', 1e9],
  ['measure', 'PG_CONN_SATURATION', 'connections_used_ratio', '>', 1],
  ['days_left', null, 'connections_used_ratio', '<', 0.01],
];

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
await watch(Number(values.watched));
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

/** Gives the account destinations that want everything, and rules whose conditions do not hold. */
async function watch(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { insertDestination } = await import('../src/notifications/destination-fixture.ts');
    const kinds = ['health_check.completed', 'ops.ticket_created', 'ops.ticket_resolved', 'alert.triggered'];
    await insertDestination(store.writer, key.accountId, { name: `Receiver ${n}`, kinds });
    await store.writer.query(
      `insert into alert_rule (account_id, name, metric, check_id, measure, operator, threshold, severity, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, 'warning', now())`,
      [key.accountId, `Rule ${n}`, ...(CONDITIONS[n % CONDITIONS.length] ?? [])],
    );
  }
}
