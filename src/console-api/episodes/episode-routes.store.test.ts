import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import type { BlockingEpisode } from '../../runs/episodes/blocking-episode.ts';
import { storeEpisode } from '../../runs/episodes/store-episode.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { Episodes } from './episode-schemas.ts';

let store: TestStore;
let testConsole: TestConsole;
beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

const MINUTE = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE);
const session = {
  pid: 4711,
  database: 'shop',
  role: 'bob',
  application: 'psql',
  state: 'idle in transaction',
};

const episode = (began: number, more: Partial<BlockingEpisode> = {}): BlockingEpisode => ({
  began_at: ago(began),
  root: '4711/1764270000.25',
  seen_at: ago(0.5),
  ended_at: null,
  database: 'shop',
  role: 'bob',
  application: 'psql',
  most_sessions: 3,
  longest_seconds: 60,
  lost_seconds: 170,
  trees: [{ at: ago(began).toISOString(), root: session, waits: [], sessions: 3 }],
  ...more,
});

const over = (began: number, ended: number): BlockingEpisode =>
  episode(began, { root: `${began}/1`, seen_at: ago(ended), ended_at: ago(ended) });

async function owner() {
  const signedIn = await testConsole.owner();
  const connectionId = await store.connection(signedIn.accountId);
  const key = { accountId: signedIn.accountId, connectionId };
  const add = (one: BlockingEpisode) => storeEpisode(store.writer, key, one);
  return { ...signedIn, connectionId, add, path: `/connections/${connectionId}/episodes` };
}

test('the episodes of a week, newest first, one that goes on with the statement that ends it', async () => {
  const { add, path, read, refused } = await owner();
  await add(episode(2));
  await add(over(90, 80));
  await add(over(10 * 1_440, 9 * 1_440));
  const { episodes, more } = await read<Episodes>(path);
  expect(more).toBe(false);
  expect(episodes.map(({ root, ended_at, ends }) => [root, ended_at === null, ends])).toEqual([
    [
      '4711/1764270000.25',
      true,
      expect.stringMatching(
        /^SELECT pg_terminate_backend\(pid\) .* pid = 4711 .* - 1764270000\.25\) < 0\.001 /,
      ),
    ],
    ['90/1', false, null],
  ]);
  const month = await read<Episodes>(`${path}?from=${ago(30 * 1_440).toISOString()}`);
  expect(month.episodes).toHaveLength(3);
  const stranger = await owner();
  expect(await stranger.refused(path)).toEqual([404, 'not_found', expect.any(String), undefined]);
  expect(await refused(`${path}?from=x`)).toEqual([400, 'invalid_parameter', expect.any(String), 'from']);
});

test('an episode that no monitor has seen for two minutes is over, as far as anyone knows', async () => {
  const { add, path, read } = await owner();
  await add(episode(10, { seen_at: ago(3) }));
  const { episodes } = await read<Episodes>(path);
  expect(episodes.map(({ ended_at, seen_at, ends }) => [ended_at === seen_at, ends])).toEqual([[true, null]]);
});

const insertTicket = `
  insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status,
                      metric_line, remediation, first_seen_at, last_seen_at, resolved_at, resolution)
  values ($1, $2, $3, '', null, 'locks', 'Test', 'warning', 'resolved', '', '', $4, $5, $5, 'no longer found')
  returning ticket_id as id`;

test('a ticket of blocked sessions has the episodes that went on while it was open, others have none', async () => {
  const { accountId, connectionId, add, read } = await owner();
  await add(over(200, 190)); // before
  await add(over(120, 95)); // at its beginning
  await add(over(70, 65)); // while it was open
  await add(over(20, 10)); // after
  const ticket = async (check: string) => {
    const values = [accountId, connectionId, check, ago(100), ago(60)];
    const { rows } = await store.writer.query<{ id: number }>(insertTicket, values);
    return `/tickets/${rows[0]?.id}/episodes`;
  };
  const path = await ticket('PG_BLOCKED_SESSIONS');
  expect((await read<Episodes>(path)).episodes.map(({ root }) => root)).toEqual(['70/1', '120/1']);
  expect(await read<Episodes>(await ticket('PG_LONG_QUERY'))).toEqual({ episodes: [], more: false });
  const stranger = await owner();
  expect(await stranger.refused(path)).toEqual([404, 'not_found', expect.any(String), undefined]);
});
