import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { writerOfAccount } from './writer-of-account.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
  const owner = await store.superuser('store');
  await owner.query(
    `insert into directory_account (account_id, cell_id, state) values (71, 1, 'here'), (72, 2, 'here'), (73, 2, 'moving')`,
  );
});
afterAll(() => store.stop());

type Served = Parameters<typeof writerOfAccount>[0];

/** Cells that are open or not; each has a writer of its own. */
function served(...cells: { id: number; isOpen?: boolean; hasSecret?: boolean }[]): {
  list: Served;
  writers: object[];
} {
  const writers = cells.map(({ id }) => ({ id }));
  const list = cells.map(({ id, isOpen = true, hasSecret = true }, at) => ({
    place: { id },
    opened: isOpen ? { writer: writers[at] } : null,
    hasSecret,
  }));
  return { list: { list } as unknown as Served, writers };
}

test('the writer of an account is that of its cell', async () => {
  const { list, writers } = served({ id: 1 }, { id: 2 });
  const writerOf = writerOfAccount(list, store.writer);
  expect(await writerOf(71)).toBe(writers[0]);
  expect(await writerOf(72)).toBe(writers[1]);
  expect(await writerOf(79)).toBe(null);
  await expect(writerOf(73)).rejects.toThrow('moved');
});

test('a store that is closed, or whose secret key is another, takes no requests of collectors', async () => {
  for (const cell of [{ id: 2, isOpen: false }, { id: 2, hasSecret: false }, { id: 3 }]) {
    const { list } = served({ id: 1 }, cell);
    await expect(writerOfAccount(list, store.writer)(72)).rejects.toThrow('not open');
  }
  const { list, writers } = served({ id: 1 });
  expect(await writerOfAccount(list, null)(79)).toBe(writers[0]);
});
