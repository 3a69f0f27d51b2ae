import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import type { BlockingEpisode } from './blocking-episode.ts';
import { type Deadlock, listDeadlocks, storeDeadlock } from './deadlock.ts';
import { listEpisodes } from './list-episodes.ts';
import { pruneEpisodes } from './prune-episodes.ts';
import { storeEpisode } from './store-episode.ts';

let store: TestStore;
let owner: pg.Pool;
beforeAll(async () => {
  store = await startTestStore();
  owner = openPool(store.address, 'owner', { max: 1 });
});
afterAll(async () => {
  await owner.end();
  await store.stop();
});

const read = async <Row>(statement: string, values: unknown[]) =>
  (await store.writer.query(statement, values)).rows as Row[];

const at = (minute: number) => new Date(Date.UTC(2026, 10, 27, 15, minute));

const episode = (more: Partial<BlockingEpisode> = {}): BlockingEpisode => ({
  began_at: at(0),
  root: '4711/1',
  seen_at: at(1),
  ended_at: null,
  database: 'shop',
  role: 'bob',
  application: 'psql',
  most_sessions: 3,
  longest_seconds: 60,
  lost_seconds: 170,
  trees: [],
  ...more,
});

const list = (key: { accountId: number; connectionId: number }, limit = 2_000) =>
  listEpisodes(read, key.accountId, key.connectionId, {
    from: new Date(0),
    to: new Date(Date.UTC(2027, 0)),
    limit,
  });

const readGeneration = async ({ accountId }: { accountId: number }) =>
  (await read<{ generation: string }>('select generation from account where account_id = $1', [accountId]))[0]
    ?.generation;

test('another monitor goes on with an episode, unless it has not been seen for long', async () => {
  const key = await store.watched();
  const generation = await readGeneration(key);
  await storeEpisode(store.writer, key, episode());
  await storeEpisode(
    store.writer,
    key,
    episode({ began_at: at(1), seen_at: at(2), most_sessions: 2, lost_seconds: 90 }),
  );
  // Nobody has seen it for long.
  expect(await list(key)).toEqual([episode({ seen_at: at(2), ended_at: at(2) })]);
  await storeEpisode(store.writer, key, episode({ began_at: at(20), seen_at: at(21), ended_at: at(21) }));
  expect((await list(key)).map(({ began_at, ended_at }) => [began_at, ended_at])).toEqual([
    [at(20), at(21)],
    [at(0), at(2)],
  ]);
  expect(await readGeneration(key)).toBe(generation); // answers that are kept stay valid
});

test('a connection keeps 1,000 episodes, for 90 days, and one that was removed has no new one', async () => {
  const key = await store.watched();
  await store.writer.query(
    `insert into blocking_episode
     select $1, $2, now() - n * interval '1 h', n::text, now() - n * interval '1 h', now(), '', '', '', 1, 1, 1, '[]'
       from generate_series(1, 1_010) n`,
    [key.accountId, key.connectionId],
  );
  await storeEpisode(store.writer, key, episode({ began_at: new Date(), seen_at: new Date() }));
  expect((await list(key)).length).toBe(1_000);
  await store.writer.query(
    `update blocking_episode set seen_at = now() - interval '91 days' where account_id = $1 and root <> '4711/1'`,
    [key.accountId],
  );
  for await (const _ of pruneEpisodes(owner));
  expect((await list(key)).map(({ root }) => root)).toEqual(['4711/1']);

  await store.writer.query('update connection set removed_at = now() where account_id = $1', [key.accountId]);
  await storeEpisode(store.writer, key, episode({ root: '5/5' }));
  expect((await list(key)).map(({ root }) => root)).toEqual(['4711/1']);
});

test('a deadlock is stored once, a connection keeps 1,000 for 90 days, and one that was removed has no new one', async () => {
  const key = await store.watched();
  const deadlock = (time: Date): Deadlock => ({
    at: time,
    transactions: [{ digest: 'ab', command: 'UPDATE', tables: ['shop.orders'], is_victim: true }],
  });
  const listed = () =>
    listDeadlocks(read, key.accountId, key.connectionId, {
      from: new Date(0),
      to: new Date(Date.UTC(2100, 0)),
      limit: 2_000,
    });
  await storeDeadlock(store.writer, key, deadlock(at(1)));
  await storeDeadlock(store.writer, key, { at: at(1), transactions: [] });
  expect(await listed()).toEqual([deadlock(at(1))]);
  await store.writer.query(
    `insert into deadlock select $1, $2, now() - n * interval '1 h', '[]' from generate_series(1, 1_010) n`,
    [key.accountId, key.connectionId],
  );
  const now = new Date();
  await storeDeadlock(store.writer, key, deadlock(now));
  expect((await listed()).length).toBe(1_000);
  await store.writer.query(
    `update deadlock set at = at - interval '91 days' where account_id = $1 and at < $2`,
    [key.accountId, now],
  );
  for await (const _ of pruneEpisodes(owner));
  expect((await listed()).map((one) => one.at)).toEqual([now]);
  await store.writer.query('update connection set removed_at = now() where account_id = $1', [key.accountId]);
  await storeDeadlock(store.writer, key, deadlock(at(2)));
  expect((await listed()).length).toBe(1);
});
