import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeSettings } from '../../../accounts/change-account.ts';
import { changeAccount } from '../../../activity/record-entry.ts';
import { checkMoves } from '../../../cli/doctor/check-moves.ts';
import { renewMoves } from './account-move.ts';
import { moveAccount } from './move-account.ts';
import {
  addSmallAccount,
  HERE,
  moveKilledAt,
  placeOf,
  rowsOf,
  startTwoCells,
  type TwoCells,
  withoutMoved,
} from './move-fixture.ts';
import type { MoveParts } from './places.ts';
import { forgetCopies, undoMove } from './undo/undo-move.ts';

let cells: TwoCells;
beforeAll(async () => {
  cells = await startTwoCells();
});
afterAll(() => cells.stop());

const selectHeads = 'select count(*) as heads from activity_head where account_id = $1';

/** The account is served by cell 1 as before. */
async function expectUnmoved(accountId: number, before: Record<string, string[]>): Promise<void> {
  expect(await placeOf(cells, accountId)).toEqual(HERE);
  expect(withoutMoved(await rowsOf(cells.one.root, accountId))).toEqual(withoutMoved(before));
  expect((await cells.two.root.query(selectHeads, [accountId])).rows).toEqual([{ heads: 0 }]);
}

test('a cell that is no target is refused, and nothing changes', async () => {
  const { parts, two } = cells;
  const id = await addSmallAccount(cells, 10);
  const before = await rowsOf(cells.one.root, id);
  await expect(moveAccount(parts, id, 1)).rejects.toThrow(`Account ${id} lives in cell 1 already.`);
  await expect(moveAccount(parts, id, 9)).rejects.toThrow(
    'There is no cell 9: DBVITALS_CELLS_FILE names 1, 2.',
  );
  await expect(moveAccount(parts, 4_711, 2)).rejects.toThrow('There is no account 4711.');

  await two.root.query(
    `insert into account (account_id, name, kind, plan) overriding system value values ($1, 'x', 'company', 'team')`,
    [id],
  );
  await expect(moveAccount(parts, id, 2)).rejects.toThrow(
    `Cell 2 holds an account ${id} already, and nothing was changed`,
  );
  await two.root.query(
    `set session_replication_role = replica; delete from account where account_id = ${id}; reset session_replication_role`,
  );

  await two.root.query(`insert into migration (name, run_on) values ('9999_later', now())`);
  await expect(moveAccount(parts, id, 2)).rejects.toThrow(
    'Cells 1 and 2 have different schemas, and nothing was changed',
  );
  await two.root.query(`delete from migration where name = '9999_later'`);

  await two.server.halt();
  try {
    await expect(moveAccount(parts, id, 2)).rejects.toThrow(
      "Cell 2 can't be reached, and nothing was changed",
    );
  } finally {
    await two.server.start();
    two.root = await two.server.superuser('cell');
  }
  await expectUnmoved(id, before);
});

test('of two commands at once one moves the account', async () => {
  const id = await addSmallAccount(cells, 6_000);
  const before = await rowsOf(cells.one.root, id);
  const ends = await Promise.allSettled([moveAccount(cells.parts, id, 2), moveAccount(cells.parts, id, 2)]);
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const [refused] = ends.filter((end) => end.status === 'rejected');
  expect(`${refused?.reason}`).toContain(`Another command is moving account ${id}: wait until it ends.`);
  expect(withoutMoved(await rowsOf(cells.two.root, id))).toEqual(withoutMoved(before));
  await expect(undoMove(cells.parts, id)).rejects.toThrow(
    `Account ${id} lives in cell 2 and is not on its way`,
  );
});

test('what members change meanwhile is in the copy, or was refused', async () => {
  const id = await addSmallAccount(cells, 6_000);
  const { writer } = cells.one;
  let going = true;
  let name = 'Moves';
  const refused: string[] = [];
  const changing = (async () => {
    for (let n = 1; going; n += 1) {
      try {
        await changeAccount(writer, id, (change) => changeSettings(change, { name: `name ${n}` }));
        name = `name ${n}`;
      } catch (error) {
        refused.push(`${error}`);
      }
    }
  })();
  await moveAccount(cells.parts, id, 2);
  going = false;
  await changing;
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused)).toEqual(new Set([`Error: There is no account ${id}.`]));
  const { rows } = await cells.two.root.query(
    `select a.name, h.last_id = count(l.id) as whole, count(l.event_number) = h.events as counted
       from account a join activity_head h using (account_id) join activity l using (account_id)
      where account_id = $1 group by a.name, h.last_id, h.events`,
    [id],
  );
  expect(rows).toEqual([{ name, whole: true, counted: true }]);
});

test('an account that moves back needs the old copy gone, and keeps its numbers', async () => {
  const id = await addSmallAccount(cells, 20);
  const before = await rowsOf(cells.one.root, id);
  await moveAccount(cells.parts, id, 2);
  await expect(moveAccount(cells.parts, id, 1)).rejects.toThrow(
    `Cell 1 still has the copy that account ${id} left when it moved away: remove it with "dbvitals account move ${id} --forget"`,
  );
  expect(await forgetCopies(cells.parts, id)).toEqual({ account_id: id, cell: 2, removed_from: [1] });
  await moveAccount(cells.parts, id, 1);
  await expectUnmovedExceptCopy(id, before);
});

async function expectUnmovedExceptCopy(id: number, before: Record<string, string[]>): Promise<void> {
  expect(await placeOf(cells, id)).toEqual(HERE);
  expect(withoutMoved(await rowsOf(cells.one.root, id))).toEqual(withoutMoved(before));
}

test('what an older backup brings back in the old cell is forgotten too', async () => {
  const id = await addSmallAccount(cells, 20);
  const before = await rowsOf(cells.one.root, id);
  await moveAccount(cells.parts, id, 2);
  await cells.one.root.query(`
    delete from account_move where account_id = ${id};
    update account set is_here = true where account_id = ${id};
    insert into activity_head (account_id, last_id) values (${id}, 20)`);
  expect(await forgetCopies(cells.parts, id)).toEqual({ account_id: id, cell: 2, removed_from: [1] });
  expect(await rowsOf(cells.one.root, id)).toEqual({});
  expect(withoutMoved(await rowsOf(cells.two.root, id))).toEqual(withoutMoved(before));
});

test('copies of several accounts are forgotten at once', async () => {
  const ids = [
    await addSmallAccount(cells, 20),
    await addSmallAccount(cells, 20),
    await addSmallAccount(cells, 20),
  ];
  for (const id of ids) await moveAccount(cells.parts, id, 2);
  const removed = await Promise.all(ids.map((id) => forgetCopies(cells.parts, id)));
  expect(removed.map(({ removed_from }) => removed_from)).toEqual([[1], [1], [1]]);
});

test('a change that holds the log for seconds delays the last step', async () => {
  const id = await addSmallAccount(cells, 20);
  const { root } = cells.one;
  let holding: Promise<unknown> | undefined;
  const parts: MoveParts = {
    ...cells.parts,
    step: (text) => {
      if (text.startsWith('background work'))
        holding = root.query(
          `begin; select from activity_head where account_id = ${id} for update; select pg_sleep(2.5); commit`,
        );
    },
  };
  await moveAccount(parts, id, 2);
  await holding;
  expect(await placeOf(cells, id)).toEqual({ cell_id: 2, state: 'here' });
});

test('a copy is not forgotten while the account is on its way', async () => {
  const id = await addSmallAccount(cells, 20);
  moveKilledAt(cells, id, 'opened the log', 1);
  await expect(forgetCopies(cells.parts, id)).rejects.toThrow(
    `Account ${id} is on its way, and nothing was removed`,
  );
  await moveAccount(cells.parts, id, 2);
  expect(await forgetCopies(cells.parts, id)).toMatchObject({ removed_from: [1] });
});

test('a move begins again after one of the cells was restored', async () => {
  for (const restored of [cells.one, cells.two]) {
    const id = await addSmallAccount(cells, 200);
    moveKilledAt(cells, id, 'caught up', 1);
    await renewMoves(restored.root);
    // The copy has what the restored cell has not: its last entries.
    await cells.one.root.query('delete from activity where account_id = $1 and id > 150', [id]);
    await cells.one.root.query('update activity_head set last_id = 150 where account_id = $1', [id]);
    const before = await rowsOf(cells.one.root, id);
    await moveAccount(cells.parts, id, 2);
    expect(withoutMoved(await rowsOf(cells.two.root, id))).toEqual(withoutMoved(before));
  }
});

test('doctor says which move was interrupted, and what to do', async () => {
  const id = await addSmallAccount(cells, 20);
  moveKilledAt(cells, id, 'opened the log', 1);
  expect(await checkMoves(cells.one.writer)).toBeNull();
  await cells.one.root.query(
    `update account_move set started_at = now() - interval '2 h' where account_id = $1`,
    [id],
  );
  expect(await checkMoves(cells.one.writer)).toEqual({
    about: 'moves',
    status: 'error',
    message: `The move of account ${id} to cell 2 began more than 1 h ago and is not complete. Its requests get 500, unless the directory leads to the other cell already.`,
    remedy: `Run "dbvitals account move ${id} --to 2" to finish it. Until the directory leads there, "dbvitals account move ${id} --undo" keeps the account where it is.`,
  });
  await undoMove(cells.parts, id);
  expect(await checkMoves(cells.one.writer)).toBeNull();
});
