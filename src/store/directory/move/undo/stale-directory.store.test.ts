import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealEntries } from '../../../../activity/seals/record-seals.ts';
import { inTransaction, openPool } from '../../../connect.ts';
import { lockSealing } from '../../../log/sealing-lock.sql.ts';
import { lockSchemaAlone } from '../../../migrate.ts';
import { correctDirectory } from '../../correct-directory.ts';
import { moveAccount } from '../move-account.ts';
import {
  addSmallAccount,
  HERE,
  moveKilledAt,
  placeOf,
  rowsOf,
  startTwoCells,
  type TwoCells,
} from '../move-fixture.ts';
import { openSide } from '../open-sides.ts';
import type { MoveParts } from '../places.ts';
import { forgetCopies, undoMove } from './undo-move.ts';

let cells: TwoCells;
beforeAll(async () => {
  cells = await startTwoCells();
});
afterAll(() => cells.stop());

const THERE = { cell_id: 2, state: 'here' };

async function leadBack(accountId: number): Promise<void> {
  await cells.one.root.query(
    `update directory_account set cell_id = 1, state = 'here' where account_id = $1`,
    [accountId],
  );
}

/** Cell 1, which has the directory, is as it was while the account was being copied: a restore gives the move a new id. */
async function restoreCellOne(accountId: number, lastId: number): Promise<void> {
  await leadBack(accountId);
  await cells.one.root.query(`
    delete from account_move where account_id = ${accountId};
    insert into account_move (account_id, move_id, other_cell, state) values (${accountId}, gen_random_uuid(), 2, 'copying');
    update account set is_here = true where account_id = ${accountId};
    insert into activity_head (account_id, last_id) values (${accountId}, ${lastId})`);
}

async function expectNothingLost(accountId: number, before: Record<string, string[]>): Promise<void> {
  expect(await rowsOf(cells.two.root, accountId)).toEqual(before);
}

test('a directory from before a finished move loses nothing: migrate corrects it', async () => {
  const id = await addSmallAccount(cells, 20);
  await moveAccount(cells.parts, id, 2);
  const before = await rowsOf(cells.two.root, id);
  await leadBack(id);
  const hasMoved = `Account ${id} has moved from cell 1 to cell 2, but the directory leads to cell 1: run "dbvitals migrate"`;
  await expect(undoMove(cells.parts, id)).rejects.toThrow(hasMoved);
  await expect(moveAccount(cells.parts, id, 2)).rejects.toThrow(hasMoved);
  await expectNothingLost(id, before);
  const { control } = cells.parts;
  const owners = [cells.one, cells.two].map(({ root }, at) => ({ id: at + 1, client: root }));
  await Promise.all([correctDirectory(control, owners), correctDirectory(control, owners)]);
  expect(await placeOf(cells, id)).toEqual(THERE);
});

test('a restored cell with the directory takes no rows from the cell in which the account lives', async () => {
  // Also an account without any entry since the backup.
  for (const lastId of [15, 20]) {
    const id = await addSmallAccount(cells, 20);
    await moveAccount(cells.parts, id, 2);
    const before = await rowsOf(cells.two.root, id);
    await restoreCellOne(id, lastId);
    const isNewer = `Cell 2 has rows of account ${id} that may be newer than those of cell 1, and nothing was removed: the log ends at entry 20 there, and at ${lastId} in cell 1.`;
    await expect(undoMove(cells.parts, id)).rejects.toThrow(isNewer);
    await expect(moveAccount(cells.parts, id, 2)).rejects.toThrow(`Cell 2 holds an account ${id} already`);
    await expectNothingLost(id, before);
    await cells.one.root.query('delete from account_move where account_id = $1', [id]);
    await expect(forgetCopies(cells.parts, id)).rejects.toThrow(isNewer);
    await expectNothingLost(id, before);
  }
});

test('a restored cell does not begin a move again whose copy has served requests', async () => {
  const id = await addSmallAccount(cells, 20);
  moveKilledAt(cells, id, 'the directory leads', 1);
  await cells.two.root.query('update activity_head set last_id = 21 where account_id = $1', [id]);
  const before = await rowsOf(cells.two.root, id);
  await restoreCellOne(id, 20);
  for (const command of [() => moveAccount(cells.parts, id, 2), () => undoMove(cells.parts, id)])
    await expect(command()).rejects.toThrow(`Cell 2 has rows of account ${id} that may be newer`);
  await expectNothingLost(id, before);
});

test('a command that another one has overtaken changes nothing', async () => {
  const id = await addSmallAccount(cells, 20);
  const before = await rowsOf(cells.one.root, id);
  const parts: MoveParts = {
    ...cells.parts,
    addressOf: async (cellId) => {
      const moved = `update directory_account set cell_id = 2 where account_id = ${id}`;
      if (cellId === 2) await cells.one.root.query(moved);
      return cells.parts.addressOf(cellId);
    },
  };
  await expect(moveAccount(parts, id, 2)).rejects.toThrow(`Another command ended the move of account ${id}`);
  await leadBack(id);
  expect(await placeOf(cells, id)).toEqual(HERE);
  expect(await rowsOf(cells.one.root, id)).toEqual(before);
});

test('a copy that has arrived is sealed when its move has ended', async () => {
  const id = await addSmallAccount(cells, 20);
  moveKilledAt(cells, id, 'opened the log', 1);
  const owner = openPool(cells.two.address, 'owner', { max: 1 });
  const seal = async () => {
    const numbers: number[] = [];
    const sealing = sealEntries({ owner, secret: [randomBytes(32)], activityDays: null }, id);
    for await (const { number } of sealing) numbers.push(number);
    return numbers;
  };
  try {
    expect(await seal()).toEqual([]);
    await moveAccount(cells.parts, id, 2);
    expect(await seal()).toEqual([1]);
  } finally {
    await owner.end();
  }
});

test('a connection that waits for a migration for too long ends', async () => {
  const owner = openPool(cells.two.address, 'owner', { max: 1 });
  try {
    await inTransaction(owner, async (client) => {
      await lockSchemaAlone(client);
      await expect(openSide(cells.parts, 2, 200)).rejects.toThrow("Cell 2 can't be reached");
    });
  } finally {
    await owner.end();
  }
});

test('a copy that is being sealed is removed whole', async () => {
  const id = await addSmallAccount(cells, 20);
  await moveAccount(cells.parts, id, 2);
  const owner = openPool(cells.one.address, 'owner', { max: 1 });
  const sealing = await owner.connect();
  try {
    // A sealing that began while the account lived here.
    await sealing.query('begin');
    await sealing.query(lockSealing, [id]);
    await sealing.query(`insert into seal_key (account_id, public_key, sealed) values ($1, $2, $3)`, [
      id,
      randomBytes(32),
      randomBytes(64),
    ]);
    const forgotten = forgetCopies(cells.parts, id);
    const isWaiting = async () => {
      const { rowCount } = await cells.one.root.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return rowCount;
    };
    await expect.poll(isWaiting).toBe(1);
    await sealing.query('commit');
    expect(await forgotten).toMatchObject({ removed_from: [1] });
  } finally {
    sealing.release();
    await owner.end();
  }
  expect(await rowsOf(cells.one.root, id)).toEqual({});
});
