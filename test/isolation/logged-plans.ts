import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ServerSettings } from '../../src/store/server.ts';
import type { TestStore } from '../support/store.ts';

/** A scan of a table in the plan of a statement that a server ran. */
export interface Scan {
  /** The name of the pool that ran it, such as `dbvitals reader`. */
  pool: string;
  statement: string;
  table: string;
  /** The condition on rows, as in EXPLAIN. */
  conditions: string;
}

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  'Recheck Cond'?: string;
  Filter?: string;
  Plans?: Node[];
}

/**
 * Makes a server log the plan of each statement, including those in functions and triggers. Joins other than by index are
 * disabled, so that each condition appears at its scan. Autovacuum is off:
 * with statistics, the planner may read a table of three rows whole and in order instead.
 */
export const loggingPlans: ServerSettings = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  logging_collector: 'on',
  log_destination: 'jsonlog',
  log_filename: 'plans.log',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  autovacuum: 'off',
};

/** All table scans that the server runs during `work`. */
export async function scansOf(store: TestStore, work: () => Promise<unknown>): Promise<Scan[]> {
  const root = await store.superuser();
  const mark = `mark ${performance.now()}`;
  await root.query(`select 'begin ${mark}'`);
  await work();
  await root.query(`select 'end ${mark}'`);
  const file = join(store.address[0]?.host ?? '', 'log', 'plans.json');
  for (;;) {
    const plans = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('ms  plan:'))
      .map((line): Record<'application_name' | 'message', string> => JSON.parse(line))
      .map(({ application_name, message }) => ({
        ...JSON.parse(message.slice(message.indexOf('{'))),
        pool: application_name,
      }));
    const at = (text: string) => plans.findIndex((plan) => plan['Query Text'] === `select '${text} ${mark}'`);
    if (at('end') > 0) {
      return plans
        .slice(at('begin') + 1, at('end'))
        .flatMap((plan) => scans({ pool: plan.pool, statement: plan['Query Text'] }, plan.Plan));
    }
    await wait(50);
  }
}

function scans(of: Pick<Scan, 'pool' | 'statement'>, node: Node): Scan[] {
  const { 'Relation Name': table, 'Index Cond': index, 'Recheck Cond': again, Filter: filter } = node;
  // The bitmap index scan below has no table name; the heap scan rechecks its condition.
  if (node['Node Type'].endsWith('Scan') && table !== undefined) {
    return [{ ...of, table, conditions: [index, again, filter].filter(Boolean).join(' and ') }];
  }
  return (node.Plans ?? []).flatMap((below) => scans(of, below));
}
