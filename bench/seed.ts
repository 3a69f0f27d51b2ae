import type pg from 'pg';
import { addAccount as storeAccount } from '../src/accounts/add-account.ts';
import { addKey } from '../src/accounts/keys/add-key.ts';
import { changeAccount } from '../src/activity/record-entry.ts';
import { everyCheck } from '../src/checks/catalogue.ts';
import { score, summaryText } from '../src/checks/score.ts';
import { writeSampleData } from '../src/cli/sample-data/sample-data.ts';
import { openPool } from '../src/store/connect.ts';
import { openStore } from '../src/store/open.ts';

/** An account of the benchmark, and its keys. */
export interface SeededAccount {
  id: number;
  keys: string[];
}

const AT_A_TIME = 8;

/** Opens the embedded store of a data folder for `work`, and closes it. */
export async function withStore<T>(
  dataDir: string,
  work: (writer: pg.Pool, owner: pg.Pool) => Promise<T>,
): Promise<T> {
  const store = await openStore({ databaseUrl: null, dataDir }, () => {}, 'migrate');
  const writer = openPool(store.address, 'writer', { max: AT_A_TIME });
  const owner = openPool(store.address, 'owner', { max: AT_A_TIME });
  try {
    return await work(writer, owner);
  } finally {
    await Promise.all([writer.end(), owner.end()]);
    await store.close();
  }
}

/** An enterprise account with 100,000 requests per minute for each key. */
export async function addAccount(writer: pg.Pool, name: string, keys: number): Promise<SeededAccount> {
  const { id } = await storeAccount(writer, {
    name,
    kind: 'company',
    plan: 'enterprise',
    requests_per_minute: 100_000,
  });
  const account: SeededAccount = { id, keys: [] };
  for (let n = 1; n <= keys; n += 1) {
    const wanted = { name: `key ${n}`, lifetime: null };
    const { key } = await changeAccount(writer, id, (change) => addKey(change, wanted));
    account.keys.push(key);
  }
  return account;
}

const catalogue = {
  checks: everyCheck,
  score: (outcomes: Parameters<typeof score>[0]) => score(outcomes, []),
  summaryText,
};

/** How many entries and tickets an account has that is measured by pages and statistics. */
const LARGE = { tickets: 1_000, activity: 10_000, days: 7 };

/**
 * Accounts with 20 connections each, the first with 50 keys and the others with `keys`. The first and the last also have a log
 * of 10,000 entries and 1,000 tickets. With one key, the accounts between them have nothing else.
 */
export function seedAccounts(dataDir: string, count: number, keys = 50): Promise<SeededAccount[]> {
  return withStore(dataDir, async (writer, owner) => {
    const accounts: SeededAccount[] = [];
    const numbers = Array.from({ length: count }, (_, n) => n).values();
    const seedNext = async () => {
      for (const n of numbers) {
        const account = await addAccount(writer, `account ${n + 1}`, n === 0 ? 50 : keys);
        const isLarge = n === 0 || n === count - 1;
        const size = { connections: 20, ...(isLarge ? LARGE : { tickets: 100, activity: 0, days: 1 }) };
        if (isLarge || keys > 1)
          await writeSampleData(writer, owner, catalogue, {
            accountId: account.id,
            seed: n + 1,
            secret: null,
            ...size,
          });
        accounts[n] = account;
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, seedNext));
    await owner.query('vacuum analyze'); // otherwise autovacuum would do it during the measurement
    return accounts;
  });
}
