import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandJson } from './command.ts';
import { temporaryFolder } from './running-service.ts';

const folder = temporaryFolder();
const dataFolder = join(folder.path, 'data');

afterAll(() => folder.remove());

test('four commands at once on an empty data folder make one store, and the last to leave stops it', async () => {
  const environment = { DBVITALS_DATA_DIR: dataFolder };
  const create = (name: string) =>
    commandJson<{ id: number }>(['account', 'create', '--name', name, '--plan', 'team'], { environment });
  // Settled, so that the folder is not removed under one that still runs.
  const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map(create));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  const accounts = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(new Set(accounts.map(({ id }) => id)).size).toBe(4);
  expect(existsSync(join(dataFolder, 'postgres', 'postmaster.pid'))).toBe(false);
  const listed = await commandJson<{ id: number }[]>(['account', 'list'], { environment });
  expect(listed.map(({ id }) => id)).toEqual(accounts.map(({ id }) => id).toSorted((a, b) => a - b));
});
