import { sealEntries } from '../../src/activity/seals/record-seals.ts';
import { secretKeys } from '../../src/config/secret-key.ts';
import type { Measured } from '../contestants.ts';
import { ENDPOINT_ONE } from '../mixes.ts';
import { withStore } from '../seed.ts';
import type { Read } from './reads.ts';

const HOUR_MS = 3_600_000;

/** The endpoints for numbers, changes, queries, episodes, alerts and seals, each with a page that has rows. Names are those of `--only`. */
const READS: Record<string, (connection: string, day: string) => string> = {
  measures: (connection) => `${connection}/measures`,
  history: (connection, day) => `${connection}/measures/history?metric=cache_hit_ratio&step=run&${day}`,
  'fleet-measures': () => '/health/measures?metric=cache_hit_ratio&per_page=50',
  changes: (connection) => `${connection}/changes?per_page=50`,
  'fleet-changes': () => '/health/changes?per_page=50',
  queries: (connection, day) => `${connection}/queries?per_page=50&${day}`,
  episodes: (connection) => `${connection}/episodes?per_page=50`,
  alerts: () => '/ops/alerts?per_page=50',
  seals: () => '/activity/seals?per_page=50',
};

export const NUMBER_NAMES: readonly string[] = Object.keys(READS);

/** These reads of the first account. Each is of the first of its connections that has rows. Throws if none has. */
export async function numberReads({ ask, dataDir, accounts }: Measured): Promise<Read[]> {
  await withStore(dataDir, async (_writer, owner) => {
    const sealing = { owner, secret: secretKeys({ givenSecret: null, dataDir }), activityDays: null };
    for await (const _ of sealEntries(sealing, accounts[0]?.id));
  });
  const { data } = await ask<{ data: { id: number }[] }>(ENDPOINT_ONE);
  const connections = data.map(({ id }) => `/health/connections/${id}`);
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const instant = (at: number) => new Date(at).toISOString();
  const day = `from=${instant(hour - 22 * HOUR_MS)}&to=${instant(hour)}`;
  const reads: Read[] = [];
  for (const [name, makePath] of Object.entries(READS)) {
    const path = await findFilled(
      ask,
      name,
      connections.map((connection) => makePath(connection, day)),
    );
    reads.push({ name, title: path.split('?', 1)[0] ?? path, reach: 1, path, isCounted: true });
  }
  return reads;
}

async function findFilled(ask: Measured['ask'], name: string, paths: readonly string[]): Promise<string> {
  for (const path of new Set(paths)) {
    const { data } = await ask<{ data: unknown[] }>(path);
    if (data.length > 0) return path;
  }
  throw new Error(`No connection has rows of ${name}.`);
}
