import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ServerSettings } from '../src/database/server.ts';
import type { TestStore } from './store.ts';

/** A scan of a table in the plan of a statement that a server ran. */
export interface Scan {
  /** The name of the pool that ran it, such as `dbvitals reader`. */
  pool: string;
  statement: string;
  table: string;
  /** What rows must be like, as EXPLAIN writes it. */
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
 * Makes a server log the plan of each statement that it runs, those in functions and triggers too. A condition is to
 * stand at the scan that it is for, so other ways of joining than by index are avoided.
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
};

/** Every scan of a table in what the server runs while `work` does its own. */
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
  // The index of a bitmap heap scan stands below it, without the table's name; its condition is checked again above.
  if (node['Node Type'].endsWith('Scan') && table !== undefined) {
    return [{ ...of, table, conditions: [index, again, filter].filter(Boolean).join(' and ') }];
  }
  return (node.Plans ?? []).flatMap((below) => scans(of, below));
}
