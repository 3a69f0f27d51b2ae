import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type pg from 'pg';
import { expect } from 'vitest';
import type { TestStore } from '../../test/support/store.ts';
import { type WrittenLog, writeLog } from '../../test/support/write-log.ts';
import { sealRound } from '../activity/seals/record-seal-rounds.ts';
import { sealEntries } from '../activity/seals/record-seals.ts';
import { entries } from '../api/endpoints/entries.ts';
import { readAs } from '../store/read.ts';
import { retain } from './retention.ts';

/** Writes a log and seals it, without the pauses of a round. */
export async function writeSealedLog(store: TestStore, owner: pg.Pool, log: WrittenLog): Promise<number> {
  const accountId = await writeLog(store, log);
  await sealAllLogs(store, owner);
  return accountId;
}

/** Seals every log, without rests; notes what may be cut where a limit is given. */
export async function sealAllLogs(
  store: TestStore,
  owner: pg.Pool,
  activityDays: number | null = null,
): Promise<void> {
  for await (const _ of sealEntries({ owner, secret: store.deps.secret, activityDays }));
}

/** What a round needs to seal the entries that it removes. */
export const sealingOf = (store: TestStore) => ({ secret: store.deps.secret, sealFile: null });

/** Runs a round of sealing and then one of retention. Both must succeed. Returns how many rows of which kind it removed. */
export async function sealAndPrune(
  store: TestStore,
  pool: pg.Pool,
  activityDays: number | null,
): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  const errors: unknown[] = [];
  const log = { info: () => {}, error: (details: object) => errors.push(details) };
  const measure = (kept: string, rows: number) => {
    removed[kept] = (removed[kept] ?? 0) + rows;
  };
  const { signal } = new AbortController();
  await sealRound({ ...sealingOf(store), owner: pool, activityDays, log }, signal);
  await retain({ owner: pool, activityDays, log, measure }, signal);
  expect(errors).toEqual([]);
  return removed;
}

/** Asserts that the log begins and ends where it says, has no gap, and that the totals of endpoint 6 match its rows. */
export async function expectWholeLog(
  { root, reader }: { root: pg.Client; reader: pg.Pool },
  accountId: number,
): Promise<{ first: number; last: number }> {
  const { rows } = await root.query<{
    first: number;
    last: number;
    least: number;
    all: number;
    requests: number;
  }>(
    `select coalesce(max(f.first_id), 1) as first, max(h.last_id) as last, coalesce(min(a.id), max(h.last_id) + 1) as least,
            count(a.id) as all, count(a.id) filter (where action_type = 'api_request') as requests
       from activity_head h
       left join activity_floor f using (account_id)
       left join activity a using (account_id)
      where h.account_id = $1`,
    [accountId],
  );
  const { first = 0, last = 0, least, all, requests } = rows[0] ?? {};
  expect({ least, all }).toEqual({ least: first, all: last - first + 1 });
  const total = async (query: Record<string, string[]>) => {
    const request = { accountId, query, id: '', url: 'http://localhost/api/v1/activity' };
    const { result } = await readAs(reader, accountId, (read) => entries.answer(read, request));
    return result.body.meta.total;
  };
  expect(await total({})).toBe(all);
  expect(await total({ action_type: ['api_request'] })).toBe(requests);
  return { first, last };
}

/** The first entry that retention has kept, if it has cut any. */
export async function floorOf(root: pg.Client, accountId: number): Promise<number | undefined> {
  const { rows } = await root.query('select first_id from activity_floor where account_id = $1', [accountId]);
  return rows[0]?.first_id;
}

/** The newest entry. */
export async function lastEntryOf(root: pg.Client, accountId: number) {
  const { rows } = await root.query<{ action_type: string; properties: object }>(
    'select action_type, properties from activity where account_id = $1 order by id desc limit 1',
    [accountId],
  );
  return rows[0];
}

/** The sessions of owners. */
export async function sessionsOfOwners(root: pg.Client): Promise<number[]> {
  const { rows } = await root.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'dbvitals owner'`,
  );
  return rows.map(({ pid }) => pid);
}

/** Starts a process that trims the logs, and prints how many entries each step removed. */
export function startTrimming(store: TestStore): ChildProcessByStdio<null, Readable, null> {
  const path = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
  const script = `
      const { openPool } = await import(${path('../store/connect.ts')});
      const { pruneEntries } = await import(${path('../activity/prune-entries.ts')});
      const owner = openPool(${JSON.stringify(store.address)}, 'owner', { max: 1 });
      for await (const entries of pruneEntries(owner)) console.log(entries);`;
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
