import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freeze, send } from '../../../../test/support/process-tree.ts';
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
import { undoMove } from './undo/undo-move.ts';

let cells: TwoCells;
/** The first process of cell 2's PostgreSQL. */
let postmaster: number;
beforeAll(async () => {
  cells = await startTwoCells();
  findPostmaster();
});
afterAll(() => cells.stop());

const THERE = { cell_id: 2, state: 'here' };
const hasHead = async (root: TwoCells['one']['root'], id: number) =>
  (await root.query('select from activity_head where account_id = $1', [id])).rowCount === 1;

function findPostmaster(): void {
  const file = join(cells.two.server.address[0]?.host ?? '', 'postmaster.pid');
  postmaster = Number(readFileSync(file, 'utf8').split('\n')[0]);
}

/** Ends all processes of cell 2 at once, as a loss of power does. */
function killCell(): void {
  for (const pid of freeze([postmaster])) send(pid, 'SIGKILL');
}

async function startCell(): Promise<void> {
  const { two } = cells;
  await two.server.start();
  two.root = await two.server.superuser('cell');
  findPostmaster();
}

/** Calls `work` at a step of the move, before the next statement. */
const at = (step: string, work: () => void): MoveParts => ({
  ...cells.parts,
  step: (text) => {
    if (text.startsWith(step)) work();
  },
});

/** An account with so many rows in a table that is copied in the pause that its copying can be seen. */
async function addAccountWithViews(): Promise<number> {
  const id = await addSmallAccount(cells, 100);
  await cells.one.root.query(
    `insert into saved_view (account_id, page, name, query, created_by, created_at)
     select $1, 'tickets', 'view ' || n, repeat('x', 1000), 'Ada', now() from generate_series(1, 20000) n`,
    [id],
  );
  return id;
}

/** Waits until a process of cell 2 meets a condition on pg_stat_activity. Returns the process. */
async function processOfCell(condition: string): Promise<number> {
  for (;;) {
    const { rows } = await cells.two.root.query<{ pid: number }>(
      `select pid from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and ${condition}`,
    );
    if (rows[0]) return rows[0].pid;
    await wait(1);
  }
}

const RECEIVES_VIEWS = `query like 'copy moved_saved_view%'`;

/** Cell 1 serves the account, and the same command moves it once the other cell is back. */
async function expectStayed(id: number, before: Record<string, string[]>, back: () => Promise<void>) {
  expect(await placeOf(cells, id)).toEqual(HERE);
  expect(withoutMoved(await rowsOf(cells.one.root, id))).toEqual(withoutMoved(before));
  await back();
  expect(await hasHead(cells.two.root, id)).toBe(false);
  await moveAccount(cells.parts, id, 2);
  expect(await placeOf(cells, id)).toEqual(THERE);
  expect(withoutMoved(await rowsOf(cells.two.root, id))).toEqual(withoutMoved(before));
  expect(await hasHead(cells.one.root, id)).toBe(false);
}

test.each(['closed the log', 'the directory says'])(
  'a cell that falls silent after "%s" leaves the account where it was, and served',
  async (step) => {
    const id = await addSmallAccount(cells, 100);
    const before = await rowsOf(cells.one.root, id);
    let frozen: number[] = [];
    const parts = at(step, () => {
      frozen = freeze([postmaster]);
    });
    await expect(moveAccount(parts, id, 2)).rejects.toThrow(
      `Account ${id} was not moved, and cell 1 serves it again: the last step took longer than 10 s.`,
    );
    await expectStayed(id, before, async () => {
      for (const pid of frozen) send(pid, 'SIGCONT');
    });
  },
);

test.each(['closed the log', 'the directory says'])(
  'a cell that dies after "%s" leaves the account where it was, and served',
  async (step) => {
    const id = await addSmallAccount(cells, 100);
    const before = await rowsOf(cells.one.root, id);
    await expect(moveAccount(at(step, killCell), id, 2)).rejects.toThrow(
      `Account ${id} was not moved, and cell 1 serves it again`,
    );
    await expectStayed(id, before, startCell);
  },
);

test('a cell that falls silent while it receives rows leaves the account where it was', async () => {
  const id = await addAccountWithViews();
  const before = await rowsOf(cells.one.root, id);
  const silent = processOfCell(RECEIVES_VIEWS).then((pid) => freeze([pid]));
  await expect(moveAccount(cells.parts, id, 2)).rejects.toThrow(
    `Account ${id} was not moved, and cell 1 serves it again: the last step took longer than 10 s.`,
  );
  await expectStayed(id, before, async () => {
    for (const pid of await silent) send(pid, 'SIGCONT');
  });
});

test('a cell that dies while it receives rows leaves the account where it was', async () => {
  const id = await addAccountWithViews();
  const before = await rowsOf(cells.one.root, id);
  const killed = processOfCell(RECEIVES_VIEWS).then(killCell);
  await expect(moveAccount(cells.parts, id, 2)).rejects.toThrow(
    `Account ${id} was not moved, and cell 1 serves it again`,
  );
  await killed;
  await expectStayed(id, before, startCell);
});

test('while the log may be open in a cell that died, it is not opened in the other one', async () => {
  const { one, two, parts } = cells;
  const id = await addSmallAccount(cells, 100);
  const before = await rowsOf(one.root, id);
  await two.root.query(`
    create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return null; end $$;
    create constraint trigger slow after update on account_move deferrable initially deferred
      for each row when (new.state = 'arrived') execute function slow()`);
  const killed = processOfCell(`query = 'commit' and wait_event = 'PgSleep'`).then(killCell);
  await expect(moveAccount(parts, id, 2)).rejects.toThrow(
    `The move of account ${id} stopped, and its requests may get 500`,
  );
  await killed;
  expect(await hasHead(one.root, id)).toBe(false);
  await startCell();
  await two.root.query('drop trigger slow on account_move');
  await moveAccount(parts, id, 2);
  expect(await placeOf(cells, id)).toEqual(THERE);
  expect(withoutMoved(await rowsOf(two.root, id))).toEqual(withoutMoved(before));
});

test('a command that would finish a move names the cells that it can not reach', async () => {
  const { one, two } = cells;
  const id = await addSmallAccount(cells, 100);
  moveKilledAt(cells, id, 'the directory leads', 1);
  const parts: MoveParts = {
    ...cells.parts,
    addressOf: async (cellId) => {
      if (cellId === 1) throw new Error('connect ECONNREFUSED');
      return two.address;
    },
  };
  await expect(moveAccount(parts, id, 2)).rejects.toThrow(
    `Account ${id} lives in cell 2 already. Whether its move has ended is unknown, because these cells can't be reached: 1.`,
  );
  await moveAccount(cells.parts, id, 2);
  const { rows } = await one.root.query('select state from account_move where account_id = $1', [id]);
  expect(rows).toEqual([{ state: 'moved' }]);
});

test('a move that was undone while the other cell was down can be started again', async () => {
  const { two, parts } = cells;
  const id = await addSmallAccount(cells, 100);
  const before = await rowsOf(cells.one.root, id);
  moveKilledAt(cells, id, 'opened the log', 1);
  killCell();
  expect(await undoMove(parts, id)).toEqual({ account_id: id, cell: 1, copy_removed: false });
  await startCell();
  await moveAccount(parts, id, 2);
  expect(withoutMoved(await rowsOf(two.root, id))).toEqual(withoutMoved(before));
});
