import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProcess } from '../contract/running-service.ts';
import { rotate } from '../support/rotation.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { expectWholeStore } from './whole-store.ts';

const SIZE = { connections: 15, tickets: 4_000, activity: 30_000, days: 20 };
/** Signals to send once a table has this many more rows of the account. Each run continues on the data of the last. */
const MOMENTS = [
  ['SIGKILL', 'connection', 1],
  ['SIGKILL', 'health_check', 500],
  ['SIGKILL', 'ticket', 1],
  ['SIGTERM', 'ticket', 500],
  ['SIGKILL', 'activity', 1],
  ['SIGINT', 'activity', 2_000],
] as const;

const SECRET_KEY = randomBytes(32).toString('hex');

let store: TestStore;
let root: pg.Client;
let account: number;
beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser('store');
  account = await store.account();
});
afterAll(() => store.stop());

function start() {
  const [address] = store.address;
  const url = `postgres://${address?.user}:${address?.password}@/store?host=${address?.host}`;
  const options = Object.entries(SIZE).flatMap(([name, count]) => [`--${name}`, String(count)]);
  return startProcess(['sample-data', '--account', String(account), ...options, '--json'], {
    DATABASE_URL: url,
    DBVITALS_SECRET_KEY: SECRET_KEY,
  });
}

async function count(table: string): Promise<number> {
  const counted = table === 'activity' ? 'last_id as count from activity_head' : `count(*) from ${table}`;
  const { rows } = await root.query(`select ${counted} where account_id = $1`, [account]);
  return rows[0].count;
}

/** Sessions of commands. A session's last statement may outlive its command. */
async function sessions(): Promise<number[]> {
  const { rows } = await root.query(
    `select pid from pg_stat_activity where application_name like 'dbvitals %' order by pid`,
  );
  return rows.map(({ pid }) => pid);
}

test.each(rotate(MOMENTS))(
  '%s once table %s has %i more rows leaves a consistent store',
  async (signal, table, more) => {
    const [others, before] = [await sessions(), await count(table)];
    const run = start();
    while ((await count(table)) < before + more) {
      if (run.child.exitCode !== null) throw new Error(`It ended before it was hit: ${run.output()}`);
      await wait(10);
    }
    const exit = await run.stop(signal);
    expect(exit, run.output()).toBe(signal === 'SIGKILL' ? null : 1);
    expect(run.output()).toBe(
      signal === 'SIGKILL'
        ? ''
        : 'error: Interrupted: the data written so far is consistent and stays; you can run the command again.\n',
    );
    while ((await sessions()).some((pid) => !others.includes(pid))) await wait(10);
    await expectWholeStore(root, account);
  },
);

test('the same command then continues after the last entry and completes', async () => {
  const before = { activity: await count('activity'), ticket: await count('ticket') };
  const { days: _days, ...counts } = SIZE;
  const run = start();
  expect([await run.ended, JSON.parse(run.output())]).toEqual([
    0,
    { ...counts, health_checks: expect.any(Number) },
  ]);
  // One entry records the sample data.
  expect(await count('activity')).toBe(before.activity + SIZE.activity + 1);
  expect(await count('ticket')).toBe(before.ticket + SIZE.tickets);
  await expectWholeStore(root, account);
});

const BROKEN = [
  'update activity_head set last_id = last_id + 1',
  'update activity_head set last_at = now()',
  'delete from activity where id = 5',
  'update activity set occurred_at = now() where id = 5',
  `update activity_type_head set last_number = last_number + 1 where action_type = 'ticket_opened'`,
  'update ticket set number = number + 1 where number = (select max(number) from ticket)',
  'update ticket set resolved_at = first_seen_at where number = (select min(number) from ticket where resolved_at is not null)',
  'update ticket_tally set open_info = open_info + 1 where connection_id = 0 and level = 2',
  'delete from ticket_tally where connection_id = 0 and level = 1 and block = 3',
  'update connection set latest_check_id = null',
  'update health_check set findings = null',
  'update connection set latest_score = 101',
  'update api_key set revoked_at = null',
];

test.each(rotate(BROKEN))('the consistency check detects: %s', async (statement) => {
  await root.query('begin');
  try {
    await root.query(statement);
    await expect(expectWholeStore(root, account)).rejects.toThrow();
  } finally {
    await root.query('rollback');
  }
});
