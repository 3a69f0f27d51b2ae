import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../connect.ts';

let store: TestStore;

beforeAll(async () => {
  store = await startTestStore();
});

afterAll(() => store.stop());

const KEPT = 'select name, statement from pg_prepared_statements where statement not like $1 order by name';

async function withPool(keepsPlans: boolean, work: (pool: pg.Pool) => Promise<void>): Promise<void> {
  const pool = openPool(store.address, 'writer', { max: 1, keepsPlans });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

async function keptBy(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ statement: string }>(KEPT, ['%pg_prepared_statements%']);
  return rows.map(({ statement }) => statement);
}

test('a repeated statement is kept once by its session, whether a promise or a callback waits for it', async () => {
  await withPool(true, async (pool) => {
    for (const n of [1, 2, 3]) {
      expect((await pool.query('select $1::int as n', [n])).rows).toEqual([{ n }]);
      const client = await pool.connect();
      expect((await client.query('select $1::int as n', [n])).rows).toEqual([{ n }]);
      client.release();
    }
    await pool.query('select 1');
    expect(await keptBy(pool)).toEqual(['select $1::int as n']);
  });
  await withPool(false, async (pool) => {
    await pool.query('select $1::int as n', [1]);
    expect(await keptBy(pool)).toEqual([]);
  });
});

test('texts that are made for one call do not fill the session', async () => {
  await withPool(true, async (pool) => {
    for (let n = 0; n < 300; n++) {
      expect((await pool.query(`select $1::int + ${n} as n`, [1])).rows).toEqual([{ n: n + 1 }]);
    }
    expect(await keptBy(pool)).toHaveLength(200);
  });
});

test('a refused statement says why each time, and those after it are run', async () => {
  await withPool(true, async (pool) => {
    for (const _ of [1, 2]) {
      await expect(pool.query('select $1::int / 0', [1])).rejects.toMatchObject({ code: '22012' });
      await expect(pool.query('select $1 from nowhere', [1])).rejects.toMatchObject({ code: '42P01' });
    }
    expect((await pool.query('select $1::int as n', [7])).rows).toEqual([{ n: 7 }]);
  });
});

test.each(['a promise', 'a callback'])(
  'a migration of its columns fails a kept statement once: %s',
  async (who) => {
    const root = await store.superuser('store');
    await root.query('create table changing as select 1 as n');
    await root.query('grant select on changing to dbvitals_writer');
    await withPool(true, async (pool) => {
      const client = who === 'a promise' ? await pool.connect() : null; // the pool passes a callback
      const ask = () => (client ?? pool).query('select * from changing where n = $1', [1]);
      expect((await ask()).rows).toEqual([{ n: 1 }]);
      await root.query('alter table changing add column later int default 2');
      await expect(ask()).rejects.toMatchObject({ code: '0A000' });
      expect((await ask()).rows).toEqual([{ n: 1, later: 2 }]);
      client?.release();
    });
    await root.query('drop table changing');
  },
);
