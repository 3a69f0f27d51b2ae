import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { within } from '../../store/read.ts';
import { removeConnection } from '../remove-connection.ts';
import { changeTags, requireTags, type TagChanges } from './change-tags.ts';
import { countTags, readTags } from './connection-tags.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const change = (account: number, ids: number[], changes: TagChanges) =>
  changeTags((work) => changeAccount(store.writer, account, work), ids, changes);
const tagsOf = async (account: number) => Object.fromEntries(await readTags(within(store.writer), account));
const entriesOf = async (account: number) =>
  (
    await store.writer.query(
      `select properties from activity where account_id = $1 and action_type = 'connection_tagged' order by id`,
      [account],
    )
  ).rows.map(({ properties }) => properties);
const generationsOf = async (account: number) =>
  (
    await store.writer.query(
      `select a.generation, array_agg(c.version order by c.connection_id) as versions
         from account a join connection c using (account_id) where a.account_id = $1 group by 1`,
      [account],
    )
  ).rows;

test('tags are added and removed, logged per connection that changes, and raise no generation and no version', async () => {
  const account = await store.account();
  const [one, two] = [await store.connection(account), await store.connection(account)];
  const before = await generationsOf(account);
  await change(account, [one, two], { add: requireTags(['PCI', 'team:shop']) });
  await change(account, [one], { add: ['env:test'], remove: ['team:shop', 'unknown'] });
  expect(await tagsOf(account)).toEqual({ [one]: ['env:test', 'pci'], [two]: ['pci', 'team:shop'] });
  await change(account, [one, two], { add: ['pci'] });
  expect(await change(account, [one, two], { add: ['env:production'] })).toEqual([
    { id: one, tags: ['env:production', 'pci'], added: ['env:production'], removed: ['env:test'] },
    { id: two, tags: ['env:production', 'pci', 'team:shop'], added: ['env:production'], removed: [] },
  ]);
  await change(account, [one], { remove: ['env:production', 'pci'] });
  expect(await tagsOf(account)).toEqual({ [two]: ['env:production', 'pci', 'team:shop'] });
  const name = expect.any(String);
  expect(await entriesOf(account)).toEqual([
    { connection_id: one, name, added: ['pci', 'team:shop'], removed: [] },
    { connection_id: two, name, added: ['pci', 'team:shop'], removed: [] },
    { connection_id: one, name, added: ['env:test'], removed: ['team:shop'] },
    { connection_id: one, name, added: ['env:production'], removed: ['env:test'] },
    { connection_id: two, name, added: ['env:production'], removed: [] },
    { connection_id: one, name, added: [], removed: ['env:production', 'pci'] },
  ]);
  expect(await generationsOf(account)).toEqual(before);
});

test("another account's connection, or a removed one, changes nothing of a bulk change", async () => {
  const [account, other] = [await store.account(), await store.account()];
  const [own, gone, theirs] = [
    await store.connection(account),
    await store.connection(account),
    await store.connection(other),
  ];
  await change(account, [gone], { add: ['pci'] });
  await removeConnection((work) => changeAccount(store.writer, account, work), gone);
  expect(await tagsOf(account)).toEqual({});
  for (const stranger of [gone, theirs, 999_999_999]) {
    await expect(change(account, [own, stranger], { add: ['x'] })).rejects.toThrow(
      `There is no connection ${stranger}.`,
    );
  }
  expect(await tagsOf(account)).toEqual({});
  expect(await tagsOf(other)).toEqual({});
});

test('an undo leaves alone what somebody has changed since', async () => {
  const account = await store.account();
  const ids: number[] = [];
  for (let n = 0; n < 5; n += 1) ids.push(await store.connection(account));
  const [same = 0, staging = 0, without = 0, again = 0, gone = 0] = ids;
  await change(account, ids, { add: ['env:test', 'pci'] });
  await change(account, ids, { add: ['env:production'], remove: ['pci'] });
  await change(account, [staging], { add: ['env:staging'] });
  await change(account, [without], { remove: ['env:production'] });
  await change(account, [again], { add: ['pci'] });
  await removeConnection((work) => changeAccount(store.writer, account, work), gone);
  const undo = { add: ['env:test', 'pci'], remove: ['env:production'], undo: true };
  expect((await change(account, ids, undo)).map(({ id }) => id)).toEqual([same]);
  expect(await tagsOf(account)).toEqual({
    [same]: ['env:test', 'pci'],
    [staging]: ['env:staging'],
    [again]: ['env:production', 'pci'],
  });
});

test('a connection has at most 20 tags and one environment', async () => {
  const account = await store.account();
  const id = await store.connection(account);
  const twenty = Array.from({ length: 20 }, (_, at) => `t${at + 10}`);
  await change(account, [id], { add: twenty });
  await expect(change(account, [id], { add: ['one-more'] })).rejects.toThrow(
    'A connection has at most 20 tags: remove some.',
  );
  await change(account, [id], { add: ['one-more'], remove: ['t10'] });
  await expect(change(account, [id], { add: ['env:a', 'env:b'], remove: twenty })).rejects.toThrow(
    'A connection has one environment: give one tag that begins with env:.',
  );
  expect(() => requireTags(['fine', 'not fine'])).toThrow(/^A tag is a label \(pci\) or a key and a value/);
  expect((await tagsOf(account))[id]).toHaveLength(20);
});

test('10,000 connections hold 1,000 different tags, not one more, and are tagged by the thousand within a second each', async () => {
  const account = await store.account();
  await store.writer.query(
    `insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
     select $1, 'c' || n, 'postgres', 'direct', 'h', 5432, 'd', 'u', 'disable', now() from generate_series(1, 10000) n`,
    [account],
  );
  const { rows } = await store.writer.query<{ connection_id: number }>(
    'select connection_id from connection where account_id = $1 order by 1',
    [account],
  );
  const ids = rows.map(({ connection_id }) => connection_id);
  const started = performance.now();
  for (let thousand = 0; thousand < 10; thousand += 1)
    await change(account, ids.slice(thousand * 1_000, thousand * 1_000 + 1_000), {
      add: Array.from({ length: 20 }, (_, at) => `t${thousand * 20 + at}`),
    });
  expect((performance.now() - started) / 10).toBeLessThan(5_000);
  await change(account, ids, { remove: Array.from({ length: 200 }, (_, at) => `t${at}`) });
  for (let at = 0; at < 50; at += 1)
    await change(account, [ids[at] ?? 0], {
      add: Array.from({ length: 20 }, (_, n) => `different:${at * 20 + n}`),
    });
  await expect(change(account, [ids[99] ?? 0], { add: ['one-more'] })).rejects.toThrow(
    'An account has at most 1000 different tags: use those that exist.',
  );
  await change(account, [ids[99] ?? 0], { add: ['different:5'] });
  const counts = countTags((await readTags(within(store.writer), account)).values());
  expect(counts).toHaveLength(1_000);
  expect(counts.filter(({ connections }) => connections === 2)).toEqual([
    { tag: 'different:5', connections: 2 },
  ]);
});
