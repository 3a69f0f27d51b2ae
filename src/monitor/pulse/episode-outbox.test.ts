import { expect, test } from 'vitest';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { BlockingEpisode } from '../../runs/episodes/blocking-episode.ts';
import { EpisodeOutbox } from './episode-outbox.ts';

const episode = (root: string, most_sessions: number): BlockingEpisode => ({
  began_at: new Date(0),
  root,
  seen_at: new Date(1),
  ended_at: null,
  database: '',
  role: '',
  application: '',
  most_sessions,
  longest_seconds: 0,
  lost_seconds: 0,
  trees: [],
});

test('an episode that could not be stored is stored as it is when the store is back', async () => {
  const stored: [string, number][] = [];
  const failures: unknown[] = [];
  let isAway = true;
  const outbox = new EpisodeOutbox(
    async ({ root, most_sessions }) => {
      await Promise.resolve();
      if (isAway) throw new Error('away');
      stored.push([root, most_sessions]);
    },
    (error) => failures.push(error),
  );
  outbox.send([episode('1', 1), episode('2', 1)]);
  await waitFor(() => expect(failures).toHaveLength(1));
  outbox.send([episode('1', 5)]);
  outbox.send(Array.from({ length: 500 }, (_, n) => episode(`invented ${n}`, 1)));
  await new Promise(setImmediate);
  expect(failures).toHaveLength(1);
  isAway = false;
  outbox.send([episode('1', 6), episode('2', 2)]);
  await waitFor(() => expect(stored).toHaveLength(200));
  expect(stored.filter(([root]) => !root.startsWith('invented'))).toEqual([
    ['1', 6],
    ['2', 2],
  ]);
});

test('who ends waits for what is on its way to the store, and not for a store that is away', async () => {
  const stored: string[] = [];
  let isAway = false;
  const outbox = new EpisodeOutbox(
    async ({ root }) => {
      await new Promise(setImmediate);
      if (isAway) throw new Error('away');
      stored.push(root);
    },
    () => {},
  );
  await outbox.settled();
  outbox.send([episode('1', 1)]);
  outbox.send([episode('2', 1)]);
  await outbox.settled();
  expect(stored).toEqual(['1', '2']);
  isAway = true;
  outbox.send([episode('3', 1)]);
  await outbox.settled();
  expect(stored).toHaveLength(2);
});
