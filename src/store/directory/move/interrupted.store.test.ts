import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rotate } from '../../../../test/support/rotation.ts';
import { moveAccount } from './move-account.ts';
import {
  addSmallAccount,
  moveKilledAt,
  placeOf,
  rowsOf,
  startTwoCells,
  type TwoCells,
  withoutMoved,
} from './move-fixture.ts';
import { undoMove } from './undo/undo-move.ts';

let cells: TwoCells;
beforeAll(async () => {
  cells = await startTwoCells();
});
afterAll(() => cells.stop());

const BEFORE: [step: string, nth: number][] = [
  ['copying', 1],
  ['copied', 1], // the account, without which there is no other row
  ['copied 5000 rows of activity', 1],
  ['copied 300 rows of ticket', 1],
  ['caught up', 1],
  ['background work has ended', 1],
  ['closed the log', 1],
  ['the directory says', 1],
  ['opened the log', 1],
];
const AFTER: [step: string, nth: number][] = [
  ['the directory leads', 1],
  ['finished', 1],
];

const selectMoves = 'select count(*) as moves from account_move where account_id = $1';
const movesOf = async (accountId: number) =>
  Promise.all(
    [cells.one, cells.two].map(
      async ({ root }) => (await root.query(selectMoves, [accountId])).rows[0].moves,
    ),
  );

describe.each(rotate([...BEFORE, ...AFTER]))('killed at "%s" %i', (step, nth) => {
  test('the same command finishes the move', async () => {
    const accountId = await addSmallAccount(cells);
    const before = withoutMoved(await rowsOf(cells.one.root, accountId));
    expect(moveKilledAt(cells, accountId, step, nth)).toBe('SIGKILL');
    // In one cell at most.
    const heads = [await rowsOf(cells.one.root, accountId), await rowsOf(cells.two.root, accountId)];
    expect(heads.filter((rows) => 'activity_head' in rows).length).toBeLessThanOrEqual(1);

    if (step === 'finished')
      await expect(moveAccount(cells.parts, accountId, 2)).rejects.toThrow('lives in cell 2 already');
    else await moveAccount(cells.parts, accountId, 2);
    expect(await placeOf(cells, accountId)).toEqual({ cell_id: 2, state: 'here' });
    expect(withoutMoved(await rowsOf(cells.two.root, accountId))).toEqual(before);
    expect(await movesOf(accountId)).toEqual([1, 0]);
  });
});

describe.each(rotate(BEFORE))('killed at "%s" %i', (step, nth) => {
  test('--undo leaves everything as it was', async () => {
    const accountId = await addSmallAccount(cells);
    const before = withoutMoved(await rowsOf(cells.one.root, accountId));
    expect(moveKilledAt(cells, accountId, step, nth)).toBe('SIGKILL');
    expect(await undoMove(cells.parts, accountId)).toEqual({
      account_id: accountId,
      cell: 1,
      copy_removed: true,
    });
    expect(await placeOf(cells, accountId)).toEqual({ cell_id: 1, state: 'here' });
    expect(withoutMoved(await rowsOf(cells.one.root, accountId))).toEqual(before);
    expect(await rowsOf(cells.two.root, accountId)).toEqual({});
    expect(await movesOf(accountId)).toEqual([0, 0]);
    // And it can still move.
    await moveAccount(cells.parts, accountId, 2);
    expect(withoutMoved(await rowsOf(cells.two.root, accountId))).toEqual(before);
  });
});

describe.each(AFTER)('killed at "%s" %i', (step, nth) => {
  test('--undo is refused', async () => {
    const accountId = await addSmallAccount(cells, 100);
    expect(moveKilledAt(cells, accountId, step, nth)).toBe('SIGKILL');
    await expect(undoMove(cells.parts, accountId)).rejects.toThrow(/complete|not on its way/);
    expect(await placeOf(cells, accountId)).toEqual({ cell_id: 2, state: 'here' });
  });
});
