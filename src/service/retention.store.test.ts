import { once } from 'node:events';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { type WrittenLog, writeLog } from '../../test/support/write-log.ts';
import { sealRound, startSealing } from '../activity/seals/record-seal-rounds.ts';
import { openSealFile } from '../activity/seals/seal-file.ts';
import { openPool } from '../store/connect.ts';
import { retain, startRetention } from './retention.ts';
import {
  expectWholeLog,
  floorOf,
  lastEntryOf,
  sealAllLogs,
  sealAndPrune,
  sealingOf,
  sessionsOfOwners,
  startTrimming,
  writeSealedLog,
} from './retention-fixture.ts';

let store: TestStore;
let root: pg.Client;
let owner: pg.Pool;
let reader: pg.Pool;

beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser('store');
  owner = openPool(store.address, 'owner', { max: 1 });
  reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
});

afterEach(async () => {
  // A test's leftovers must not become the next one's work.
  await root.query(`truncate activity, activity_floor, activity_head, activity_type_head, activity_seal, activity_leaves,
                             counter_sample`);
});

afterAll(async () => {
  await Promise.all([owner.end(), reader.end()]);
  await store.stop();
});

// A thousand entries a day are sealed and removed together, so no other day expires during a slow test.
const LOG = { length: 15_000, rare: 'event', days: 15 } as const;
const DAYS = 10;
const OLD = 5_000;

const writeSealed = (log: WrittenLog) => writeSealedLog(store, owner, log);
const sealLogs = () => sealAllLogs(store, owner);
const round = (activityDays: number | null, pool = owner) => sealAndPrune(store, pool, activityDays);
/** What a round needs to seal what it cuts. */
const sealing = () => sealingOf(store);
const expectWhole = (accountId: number) => expectWholeLog({ root, reader }, accountId);
const lastEntry = (accountId: number) => lastEntryOf(root, accountId);

describe('the log', () => {
  test('loses entries older than its limit, records that once a day, and keeps counting', async () => {
    const accountId = await writeSealed(LOG);
    expect(await round(DAYS)).toEqual({ entries: OLD });
    expect(await expectWhole(accountId)).toEqual({ first: OLD + 1, last: LOG.length + 1 });
    const told = { action_type: 'activity_pruned', properties: { up_to_id: OLD, entries: OLD } };
    expect(await lastEntry(accountId)).toEqual(told);

    expect(await round(DAYS - 1)).toEqual({ entries: 1_000 });
    expect(await lastEntry(accountId)).toEqual(told);
    await root.query(`update activity_floor set told_at = now() - interval '25 hours'`);
    expect(await round(DAYS)).toEqual({});
    expect(await lastEntry(accountId)).toEqual({
      ...told,
      properties: { up_to_id: OLD + 1_000, entries: 1_000 },
    });
    await expectWhole(accountId);
  });

  test('continues its ids even after all entries were removed', async () => {
    const accountId = await writeLog(store, { ...LOG, length: 1_000 });
    await root.query(`update activity set occurred_at = occurred_at - interval '30 days'`);
    await sealLogs();
    expect(await round(DAYS)).toEqual({ entries: 1_000 });
    expect(await expectWhole(accountId)).toEqual({ first: 1_001, last: 1_001 });
  });

  test('is kept forever without a limit, and loses no entry younger than its limit', async () => {
    const accountId = await writeSealed(LOG);
    expect(await round(null)).toEqual({});
    expect(await round(LOG.days + 1)).toEqual({});
    expect(await expectWhole(accountId)).toEqual({ first: 1, last: LOG.length });
  });

  test.each(['1999-01-01', '2199-01-01'])(
    "loses the same entries whatever the process's clock says (%s)",
    async (date) => {
      const accountId = await writeSealed(LOG);
      vi.useFakeTimers({ now: new Date(date), toFake: ['Date'] });
      try {
        expect(await round(DAYS)).toEqual({ entries: OLD });
      } finally {
        vi.useRealTimers();
      }
      await expectWhole(accountId);
    },
  );

  test('is trimmed by two processes at once as by one', async () => {
    const accounts = [await writeSealed(LOG), await writeSealed({ ...LOG, rare: 'request' })];
    const second = openPool(store.address, 'owner', { max: 1 });
    const removed = await Promise.all([round(DAYS), round(DAYS, second)]);
    await second.end();
    expect(removed.reduce((sum, { entries = 0 }) => sum + entries, 0)).toBe(2 * OLD);
    for (const accountId of accounts) {
      expect(await expectWhole(accountId)).toEqual({ first: OLD + 1, last: LOG.length + 1 });
    }
  });

  test('is trimmed while requests hold all their locks', async () => {
    const accountId = await writeSealed(LOG);
    const request = await store.superuser('store');
    await request.query('begin');
    await request.query('select from key_window for update');
    await request.query('select from activity_head where account_id = $1 for update', [accountId]);
    const done = round(DAYS);
    const floor = () => floorOf(root, accountId);
    await expect.poll(floor).toBe(OLD + 1);
    await request.query('rollback');
    await done;
  });

  test('is complete after the connection was lost in the middle of a step, and the next round continues', async () => {
    const accountId = await writeSealed(LOG);
    const errors: unknown[] = [];
    const log = { info: () => {}, error: (details: object) => errors.push(details) };
    const inTheWay = await store.superuser('store');
    await inTheWay.query('begin');
    await inTheWay.query('select from activity where account_id = $1 and id = 2500 for update', [accountId]);
    const failures: string[] = [];
    const failed = (work: string) => void failures.push(work);
    const { signal } = new AbortController();
    await sealRound({ ...sealing(), owner, activityDays: DAYS, log, failed }, signal);
    const done = retain({ owner, activityDays: DAYS, log, failed }, signal);
    const waiting = 'select pid from pg_locks where not granted';
    await expect.poll(async () => (await root.query(waiting)).rowCount).toBe(1);
    await root.query(`select pg_terminate_backend(pid) from (${waiting}) waiting`);
    await done;
    await inTheWay.query('rollback');
    expect(errors).toMatchObject([{ kept: 'entries' }]);
    expect(failures).toEqual(['entries']);
    expect((await expectWhole(accountId)).first).toBe(2_001);
    expect(await round(DAYS)).toEqual({ entries: OLD - 2_000 });
    expect((await expectWhole(accountId)).first).toBe(OLD + 1);
  });

  test('is complete after the process that trims it was killed, and the next process continues', async () => {
    const accountId = await writeSealed({ ...LOG, length: 90_000, days: 30 });
    await sealAllLogs(store, owner, DAYS);
    const floors: number[] = [];
    const before = await sessionsOfOwners(root);
    for (const steps of [1, 4, 7]) {
      const child = startTrimming(store);
      for (let heard = ''; heard.split('\n').length <= steps; )
        heard += String(await once(child.stdout, 'data'));
      child.kill('SIGKILL');
      await once(child, 'exit');
      // Until its session ends, the server may still run its last statement.
      const left = async () => (await sessionsOfOwners(root)).filter((pid) => !before.includes(pid));
      await expect.poll(left).toEqual([]);
      floors.push((await expectWhole(accountId)).first);
    }
    expect(floors).toEqual(floors.toSorted((a, b) => a - b));
    expect(floors.at(-1)).toBeLessThan(60_001);
    expect(await round(DAYS)).toEqual({ entries: 60_001 - (floors.at(-1) ?? 0) });
    expect((await expectWhole(accountId)).first).toBe(60_001);
  });
});

describe('a health check', () => {
  test('shrinks to its score after 7 days, unless it is the latest, and cached answers stay correct', async () => {
    const accountId = await store.account();
    const [live, still] = [await store.connection(accountId), await store.connection(accountId)];
    const { rows } = await root.query<{ id: number }>(
      `insert into health_check (account_id, connection_id, score, summary_text, created_at, findings, cost)
       select $1, case when hours < 400 then $2::bigint else $3 end, 70, 'as it was', now() - hours * interval '1 hour',
              '[{"check_id": "PG_FSYNC_OFF"}]', '{"statements": 1}'
         from unnest(array[9000, 8000, 300, 169, 167, 1]) as hours
       returning health_check_id as id`,
      [accountId, live, still],
    );
    await root.query(
      `update connection c set latest_check_id =
         (select max(health_check_id) from health_check h where h.connection_id = c.connection_id)`,
    );
    const account = 'select generation from account where account_id = $1';
    const before = (await root.query(account, [accountId])).rows;

    expect(await round(null)).toEqual({ findings: 3 });
    const { rows: after } = await root.query(
      `select findings is not null as whole, cost is not null as costed, score, summary_text
         from health_check where health_check_id = any($1) order by health_check_id`,
      [rows.map(({ id }) => id)],
    );
    const row = (whole: boolean) => ({ whole, costed: whole, score: 70, summary_text: 'as it was' });
    expect(after).toEqual([false, true, false, false, true, true].map(row));
    expect((await root.query(account, [accountId])).rows).toEqual(before);
    expect(await round(null)).toEqual({ findings: 0 });
  });

  test('shrinks even if any number of older ones stay complete', async () => {
    const accountId = await store.account();
    const connectionId = await store.connection(accountId);
    await root.query(
      `insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
       select account_id, 'still ' || n, engine, connection_type, host, port, database, username, tls, now()
         from connection, generate_series(1, 1200) n where connection_id = $1`,
      [connectionId],
    );
    await root.query(
      `with checked as (
         insert into health_check (account_id, connection_id, score, summary_text, created_at, findings)
         select account_id, connection_id, 1, 'old', timestamptz '2020-01-01', '[]'
           from connection where account_id = $1 and connection_id <> $2
         returning connection_id, health_check_id
       ) update connection c set latest_check_id = health_check_id
           from checked where c.account_id = $1 and c.connection_id = checked.connection_id`,
      [accountId, connectionId],
    );
    await root.query(
      `insert into health_check (account_id, connection_id, score, summary_text, created_at, findings)
       select $1, $2, 1, 'not so old', timestamptz '2021-01-01' + n * interval '1 s', '[]' from generate_series(1, 1500) n`,
      [accountId, connectionId],
    );
    await root.query('analyze health_check, connection'); // as the server would, else a round takes 8 s
    expect(await round(null)).toEqual({ findings: 1_500 });
  });
});

test('a counter is removed 30 days after it was last read', async () => {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  await root.query(
    `insert into counter_sample select $1, $2, 'PG_DEADLOCKS', 'db ' || days, now() - days * interval '24 hours', '[]'
       from generate_series(29, 2500) days`,
    [accountId, connectionId],
  );
  expect(await round(null)).toMatchObject({ counters: 2_471 });
  const { rows } = await root.query('select database from counter_sample');
  expect(rows).toEqual([{ database: 'db 29' }]);
});

describe('the loop', () => {
  test('survives an outage of the store and continues after it', async () => {
    const accountId = await writeSealed(LOG);
    await store.halt();
    const pool = openPool(store.address, 'owner', { max: 1 });
    const said: string[] = [];
    const log = { info: () => {}, error: (details: { kept: string }) => said.push(details.kept) };
    const failures = new Set<string>();
    const sealFile = openSealFile('/no/such/folder/seals.ndjson');
    const failed = (work: string) => void failures.add(work);
    const times = { first: 1, every: 50 };
    const work = { owner: pool, activityDays: DAYS, log, failed };
    const retention = startRetention(work, times);
    const sealed = startSealing({ ...sealing(), ...work, sealFile }, times);
    const parts =
      'changes counters entries episodes events findings key_hours key_reminders load queries seal_file seals sign_ins';
    await expect.poll(() => [...failures].toSorted().join(' ')).toBe(parts);
    expect(said).not.toEqual([]);
    await store.start();
    root = await store.superuser('store');
    const first = () => floorOf(root, accountId);
    await expect.poll(first).toBe(OLD + 1);
    await Promise.all([retention.stop(), sealed.stop()]);
    await pool.end();
    await expectWhole(accountId);
  });

  test('stops between two steps', async () => {
    const accountId = await writeSealed(LOG);
    const steps: number[] = [];
    const log = { info: () => {}, error: (details: object) => expect(details).toBe('no error') };
    const stopped = Promise.withResolvers<void>();
    await sealAllLogs(store, owner, DAYS);
    const retention = startRetention(
      {
        owner,
        activityDays: DAYS,
        log,
        measure(_kept, rows) {
          steps.push(rows);
          if (steps.length === 3) stopped.resolve(retention.stop());
        },
      },
      { first: 1, every: 1 },
    );
    await stopped.promise;
    expect(steps).toEqual([1_000, 1_000, 1_000]);
    expect((await expectWhole(accountId)).first).toBe(3_001);
  });
});
