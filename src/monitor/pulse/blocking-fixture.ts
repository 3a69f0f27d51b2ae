import type pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { BlockingRoot } from './blocking-roots.ts';
import { blockingRoots } from './blocking-roots.ts';
import type { HeldSession, PulseAnswer } from './held-session.ts';

/** The reading of an answer. Throws what the pulse failed with. */
export function requireReading(answer: PulseAnswer | undefined) {
  if (!answer || !('reading' in answer)) throw new Error(JSON.stringify(answer));
  return answer.reading;
}

/** One session changes a row and goes away, until the test ends; another waits for it. `open` opens a session that may do so. */
export async function blockSession(open: () => Promise<pg.Client>): Promise<void> {
  const [root, victim] = await Promise.all([open(), open()]);
  await root.query(`create table if not exists held_row (id int primary key, n int);
    insert into held_row values (1, 0) on conflict do nothing; set application_name = 'forgotten'`);
  await root.query('begin; update held_row set n = 1 where id = 1');
  const waits = victim.query('update held_row set n = 2 where id = 1');
  onTestFinished(async () => {
    await root.query('rollback');
    await waits;
  });
}

/** Pulses until one sees the session of {@link blockSession} block the other. */
export function findBlocking(held: HeldSession): Promise<BlockingRoot> {
  return waitFor(
    async () => {
      const [root] = blockingRoots(requireReading(await held.pulse()));
      if (!root) throw new Error('nothing is blocked');
      expect(root.session).toMatchObject({ state: 'idle in transaction', application: 'forgotten' });
      expect(root.waits).toHaveLength(1);
      return root;
    },
    { interval: 200 },
  );
}
