import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { retain } from '../../../service/retention.ts';
import { openPool } from '../../connect.ts';
import { moveAccount } from './move-account.ts';
import { type CellStore, moveKilledAt, rowsOf, startTwoCells, type TwoCells } from './move-fixture.ts';

let cells: TwoCells;
const owners = new Map<CellStore, pg.Pool>();
beforeAll(async () => {
  cells = await startTwoCells();
  for (const cell of [cells.one, cells.two]) owners.set(cell, openPool(cell.address, 'owner', { max: 1 }));
});
afterAll(async () => {
  for (const owner of owners.values()) await owner.end();
  await cells.stop();
});

/** The column with the time of each table from which retention deletes rows. */
const PRUNED = {
  query_hour: 'hour',
  query_text: 'read_at',
  blocking_episode: 'seen_at',
  deadlock: 'at',
  session_load: 'at',
  session_load_source: 'seen_at',
  connection_change: 'at',
  fact_snapshot: 'read_at',
  counter_sample: 'taken_at',
  delivery_attempt: 'started_at',
  delivery_message: 'made_at',
  delivery: 'queued_at',
  event: 'occurred_at',
  link: 'expires_at',
};

/** Makes everything of the account so old that retention deletes it. */
async function age({ root }: CellStore, id: number): Promise<void> {
  await root.query('set session_replication_role = replica');
  for (const [table, at] of Object.entries({ ...PRUNED, health_check: 'created_at' }))
    await root.query(`update ${table} set ${at} = ${at} - interval '3 years' where account_id = ${id}`);
  await root.query(`
    update delivery set state = 'accepted', ended_at = queued_at, is_logged = true where account_id = ${id};
    update health_check set findings = '[]' where account_id = ${id};
    update connection set latest_check_id = null where account_id = ${id};
    reset session_replication_role`);
}

async function prune(cell: CellStore): Promise<void> {
  const owner = owners.get(cell);
  if (!owner) throw new Error('no owner');
  const errors: unknown[] = [];
  const log = { info: () => {}, error: (facts: unknown) => errors.push(facts) };
  await retain({ owner, activityDays: null, log }, new AbortController().signal);
  expect(errors).toEqual([]);
}

test('retention leaves both copies of an account that moves alone, and goes on in the new cell', async () => {
  const { one, two, parts, filled } = cells;
  await age(one, filled);
  moveKilledAt(cells, filled, 'caught up', 1);
  const copies = async () => [await rowsOf(one.root, filled), await rowsOf(two.root, filled)];
  const before = await copies();
  for (const table of Object.keys(PRUNED)) expect(before[0], table).toHaveProperty(table);
  await prune(one);
  await prune(two);
  expect(await copies()).toEqual(before);

  await moveAccount(parts, filled, 2);
  const [left] = await copies();
  await prune(one);
  await prune(two);
  const [stillThere, now] = await copies();
  expect(stillThere).toEqual(left);
  for (const table of Object.keys(PRUNED)) expect(now, table).not.toHaveProperty(table);
  expect(now?.['health_check']?.filter((row) => !row.includes('"findings": null'))).toEqual([]);
});
