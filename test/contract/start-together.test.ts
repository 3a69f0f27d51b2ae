import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandJson } from './command.ts';
import { temporaryFolder } from './running-service.ts';

const folder = temporaryFolder();
const dataFolder = join(folder.path, 'data');

afterAll(() => folder.remove());

test('four commands at once on an empty data folder make one store, and the last one stops it', async () => {
  const environment = { DBVITALS_DATA_DIR: dataFolder };
  // Settled, so that the folder is not removed under one that still runs.
  const made = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map(() => commandJson<{ applied: string[] }>(['migrate'], { environment })),
  );
  expect(made.filter(({ status }) => status === 'rejected')).toEqual([]);
  const applied = made.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.applied.length : 0));
  expect(applied.filter((count) => count > 0)).toHaveLength(1);
  expect(existsSync(join(dataFolder, 'postgres', 'postmaster.pid'))).toBe(false);

  const create = (name: string) =>
    commandJson<{ id: number }>(['account', 'create', '--name', name, '--plan', 'team'], { environment });
  const outcomes = await Promise.allSettled(['a', 'b'].map(create));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  const accounts = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(new Set(accounts.map(({ id }) => id)).size).toBe(2);
  expect(existsSync(join(dataFolder, 'postgres', 'postmaster.pid'))).toBe(false);
  const listed = await commandJson<{ id: number }[]>(['account', 'list'], { environment });
  expect(listed.map(({ id }) => id)).toEqual(accounts.map(({ id }) => id).toSorted((a, b) => a - b));
});
