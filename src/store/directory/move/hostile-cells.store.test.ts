import { afterAll, beforeAll, expect, test } from 'vitest';
import { IDS_OF_CELL } from '../claim-cell.ts';
import { moveAccount } from './move-account.ts';
import {
  addSmallAccount,
  HERE,
  placeOf,
  rowsOf,
  startTwoCells,
  type TwoCells,
  withoutMoved,
} from './move-fixture.ts';

let cells: TwoCells;
beforeAll(async () => {
  cells = await startTwoCells();
});
afterAll(() => cells.stop());

test('hostile texts arrive as they are', async () => {
  const id = await addSmallAccount(cells, 10);
  const name = `Robert'); drop table account; -- \\. \\N \\t\t"é\u2028 😀 $$ ${'x'.repeat(300)}`;
  await cells.one.root.query('update account set name = $2 where account_id = $1', [id, name]);
  await cells.one.root.query(
    `insert into saved_view (account_id, page, name, query, created_by, created_at) values ($1, 'tickets', $2, $3, $2, now())`,
    [id, `\\.\n${name}`, '\\.\n'],
  );
  const before = await rowsOf(cells.one.root, id);
  await moveAccount(cells.parts, id, 2);
  expect(withoutMoved(await rowsOf(cells.two.root, id))).toEqual(withoutMoved(before));
});

test("a cell's owner can't bring along rows of an account of the other cell", async () => {
  const { one, two } = cells;
  const id = await addSmallAccount(cells, 10);
  const victim = IDS_OF_CELL + 1;
  // Says that the rows are of the account when asked, and of another one when read.
  await one.root.query(`
    alter table threshold rename to threshold_rows;
    create function liar() returns bigint stable language plpgsql as $$
      begin
        if current_query() not like 'copy%' then return ${id}; end if;
        perform set_config('liar.asked', (coalesce(nullif(current_setting('liar.asked', true), ''), '0')::int + 1)::text, false);
        return case when current_setting('liar.asked')::int % 2 = 1 then ${id} else ${victim} end;
      end $$;
    create view threshold as
      select liar() as account_id, tag, check_id, name, value, changed_at, changed_by from threshold_rows;
    alter view threshold owner to plain`);
  try {
    await expect(moveAccount(cells.parts, id, 2)).rejects.toThrow(
      `The cell that account ${id} leaves sent rows of another account (threshold).`,
    );
  } finally {
    await one.root.query(
      'drop view threshold; drop function liar; alter table threshold_rows rename to threshold',
    );
  }
  expect((await two.root.query('select from threshold where account_id = $1', [victim])).rowCount).toBe(0);
  expect(await placeOf(cells, id)).toEqual(HERE);
  await moveAccount(cells.parts, id, 2);
});

test('a number that another account of the cell has, or will get, is refused', async () => {
  const { one, two, parts } = cells;
  const id = await addSmallAccount(cells, 20);
  const before = await rowsOf(one.root, id);
  const addKey = (account: number, key: number) =>
    two.root.query(
      `insert into api_key (account_id, api_key_id, name, hash, last_four, created_at) overriding system value
       values ($1, $2, 'x', sha256('x'), 'abcd', now())`,
      [account, key],
    );
  const { rows } = await one.root.query('select api_key_id as key from api_key where account_id = $1', [id]);
  const other = IDS_OF_CELL + 1;
  await two.root.query(
    `insert into account (account_id, name, kind, plan) overriding system value values ($1, 'Other', 'company', 'team')`,
    [other],
  );
  await addKey(other, rows[0].key);
  await expect(moveAccount(parts, id, 2)).rejects.toThrow(
    `Account ${id} has a row of api_key with id ${rows[0].key}, which account ${other} has in cell 2`,
  );
  expect(await placeOf(cells, id)).toEqual(HERE);
  expect(withoutMoved(await rowsOf(one.root, id))).toEqual(withoutMoved(before));
  await two.root.query('delete from api_key where account_id = $1', [other]);

  // From when the account lived in cell 2, before that was restored.
  await one.root.query(
    `insert into silence (account_id, silence_id, connection_id, check_id, reason, note, created_at) overriding system value
     select account_id, $2, connection_id, 'X', 'wont_fix', 'n', now() from connection where account_id = $1`,
    [id, IDS_OF_CELL + 900],
  );
  await expect(moveAccount(parts, id, 2)).rejects.toThrow(
    `select setval(pg_get_serial_sequence('silence', 'silence_id'), ${IDS_OF_CELL + 900})`,
  );
  await two.root.query(`select setval(pg_get_serial_sequence('silence', 'silence_id'), $1)`, [
    IDS_OF_CELL + 900,
  ]);
  await moveAccount(parts, id, 2);
});
