import pg from 'pg';
import { openPool } from '../../src/store/connect.ts';
import { type Read, readAs } from '../../src/store/read.ts';
import type { TestStore } from './store.ts';

interface PlanNode {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Relation Name'?: string;
  Plans?: PlanNode[];
}

interface Plan {
  Plan: PlanNode;
}

// The server's stop closes them.
const pools = { reader: new WeakMap<TestStore, pg.Pool>(), console: new WeakMap<TestStore, pg.Pool>() };

/**
 * How many 8 KiB buffers a statement touches when an endpoint, or a route of the console, runs it: as that role, with row-level
 * security and bound parameters. Measures the second run, because the first also fills the session's catalogue caches.
 */
export async function buffersOf(
  store: TestStore,
  accountId: number,
  statement: string,
  values: unknown[],
  role: 'reader' | 'console' = 'reader',
): Promise<number> {
  return buffersIn(await planOf(store, accountId, statement, values, role));
}

/** {@link buffersOf} by the plan for any values, which PostgreSQL keeps of a statement that a session repeats. */
export async function keptPlanBuffers(
  store: TestStore,
  accountId: number,
  statement: string,
  values: readonly unknown[],
): Promise<number> {
  const literals = values.map((value) => (value === null ? 'null' : pg.escapeLiteral(String(value))));
  const pool = openPool(store.address, 'reader', { max: 1, pipeline: true });
  try {
    const { result } = await readAs(pool, accountId, async (read) => {
      await read('set local plan_cache_mode = force_generic_plan', []);
      await read(`prepare kept as ${statement}`, []);
      const explain = `explain (analyze, buffers, timing off, format json) execute kept (${literals.join()})`;
      await read(explain, []);
      return read<{ 'QUERY PLAN': Plan[] }>(explain, []);
    });
    const plan = result[0]?.['QUERY PLAN'][0]?.Plan;
    if (!plan) throw new Error('the statement has no plan');
    return buffersIn(plan);
  } finally {
    await pool.end();
  }
}

/** {@link buffersOf}, those of a table and its indexes alone, without what functions read. */
export async function tableBuffersOf(
  store: TestStore,
  accountId: number,
  statement: string,
  values: unknown[],
  table: string,
): Promise<number> {
  const ofTable = (node: PlanNode): number =>
    (node['Relation Name'] === table ? buffersIn(node) : 0) +
    (node.Plans ?? []).reduce((sum, inner) => sum + ofTable(inner), 0);
  return ofTable(await planOf(store, accountId, statement, values, 'reader'));
}

const buffersIn = (node: PlanNode) => node['Shared Hit Blocks'] + node['Shared Read Blocks'];

async function planOf(
  store: TestStore,
  accountId: number,
  statement: string,
  values: unknown[],
  role: 'reader' | 'console',
): Promise<PlanNode> {
  const reader = pools[role].get(store) ?? openPool(store.address, role, { max: 2, pipeline: true });
  pools[role].set(store, reader);
  const explain = `explain (analyze, buffers, timing off, format json) ${statement}`;
  const { result } = await readAs(reader, accountId, async (read) => {
    await read(explain, values);
    return read<{ 'QUERY PLAN': Plan[] }>(explain, values);
  });
  const plan = result[0]?.['QUERY PLAN'][0]?.Plan;
  if (!plan) throw new Error('the statement has no plan');
  return plan;
}

/** {@link buffersOf}, of all statements of `work` together, when the console runs them. */
export async function buffersOfReads(
  store: Pick<TestStore, 'address'>,
  accountId: number,
  work: (read: Read) => Promise<unknown>,
): Promise<number> {
  const pool = openPool(store.address, 'console', { max: 1, pipeline: true });
  let buffers = 0;
  try {
    await readAs(pool, accountId, (read) =>
      work(async (statement, values) => {
        const explain = `explain (analyze, buffers, timing off, format json) ${statement}`;
        await read(explain, values);
        const [row] = await read<{ 'QUERY PLAN': Plan[] }>(explain, values);
        const plan = row?.['QUERY PLAN'][0]?.Plan;
        if (!plan) throw new Error('the statement has no plan');
        buffers += buffersIn(plan);
        return read(statement, values);
      }),
    );
  } finally {
    await pool.end();
  }
  return buffers;
}
