import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { inTransaction } from '../database/connect.ts';
import { type Change, changeWithin, LogAbsent } from './record-entry.ts';

/** A key that exists and is refused. */
export interface RefusedKey {
  readonly accountId: number;
  readonly apiKeyId: number;
  /** Whether only the client's address is refused. Otherwise the key was revoked, has expired or was replaced. */
  readonly byAddress: boolean;
}

/** The attempts with one key from one address that are not recorded yet. */
interface Tally extends RefusedKey {
  /** null = all addresses beyond the limit. */
  readonly address: string | null;
  attempts: number;
  /** When they may be recorded, in milliseconds of this process's monotonic clock. */
  due: number;
}

/** All services together record one entry per minute for a key and an address. */
const EVERY_SECONDS = 60;

/**
 * Addresses of a key that are recorded separately. If a botnet tries a leaked key, this limits the entries per
 * minute.
 */
const MOST_ADDRESSES = 20;

/**
 * Tallies in memory per account, and accounts in memory. Attempts beyond are not counted. No account can use the room
 * of another.
 */
const MOST_OF_ACCOUNT = 200;
const MOST_ACCOUNTS = 200;

/** Pause between rounds, in milliseconds. During a flood, each affected account costs one transaction per second. */
const ROUND_MS = 1_000;

// A change may lock the account's log. The connection must not wait long for it, because key lookups use the same
// pool.
const noLongWait = `set local lock_timeout = '200ms'`;

/** The reason in the entry of a key that was refused by address. */
const ADDRESS_NOT_ALLOWED = 'address_not_allowed';

// Also matches a null `address`. The instants of the log decide, so services with different clocks agree.
const recentEntries = `
  select (properties->>'api_key_id')::bigint as api_key_id, properties->>'source_ip' as address,
         properties->>'reason' = '${ADDRESS_NOT_ALLOWED}' as by_address,
         extract(epoch from occurred_at + make_interval(secs => $3) - $2)::float8 as seconds
    from activity
   where account_id = $1 and event_number is not null and action_type = 'api_key_refused'
     and id >= activity_id_at($1, $2::timestamptz - make_interval(secs => $3))
   order by id`;

const refusedKeys = `
  select api_key_id, name,
         case when revoked_at is null or revoked_at > $3 then 'expired'
              when replaced_by is not null then 'regenerated'
              else 'revoked' end as reason
    from api_key
   where account_id = $1 and api_key_id = any ($2::bigint[])`;

/**
 * Records in an account's log that a key was refused: `api_key_refused`, one entry per minute for each key and
 * address, with the number of attempts since the last one. Requests do not wait for it, so response times reveal
 * nothing. The count may miss attempts of the last minute before a process ends, but never the first attempt.
 */
export class RefusedKeys {
  readonly #writer: pg.Pool;
  readonly #log: Pick<Logger, 'error'>;
  /** By account, then by key and address. */
  readonly #accounts = new Map<number, Map<string, Tally>>();
  readonly #everySeconds: number;
  readonly #ending = new AbortController();
  #running: Promise<void> | null = null;

  /** `writer` is a pool of the writer's role. At most one of its connections is in use, and only briefly. */
  constructor(writer: pg.Pool, log: Pick<Logger, 'error'>, everySeconds = EVERY_SECONDS) {
    this.#writer = writer;
    this.#log = log;
    this.#everySeconds = everySeconds;
  }

  /** Counts an attempt. */
  note({ accountId, apiKeyId, byAddress }: RefusedKey, address: string): void {
    const tally = this.#tallyOf({ accountId, apiKeyId, byAddress }, address);
    if (tally === null) return;
    tally.attempts += 1;
    if (!this.#ending.signal.aborted) this.#running ??= this.#run();
  }

  /** Ends the rounds. The caller ends the pool. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  #tallyOf(key: RefusedKey, address: string): Tally | null {
    const tallies = this.#accounts.get(key.accountId) ?? new Map<string, Tally>();
    const known = tallies.get(nameOf(key, address));
    if (known) return known;
    const addresses = [...tallies.values()].filter(({ apiKeyId }) => apiKeyId === key.apiKeyId).length;
    const ownAddress = addresses < MOST_ADDRESSES ? address : null;
    const name = nameOf(key, ownAddress);
    const tally = tallies.get(name) ?? { ...key, address: ownAddress, attempts: 0, due: 0 };
    if (!tallies.has(name)) {
      if (tallies.size >= MOST_OF_ACCOUNT) return null;
      if (tallies.size === 0 && this.#accounts.size >= MOST_ACCOUNTS) return null;
      this.#accounts.set(key.accountId, tallies.set(name, tally));
    }
    return tally;
  }

  /** Runs rounds until everything is recorded and every minute is over. */
  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (this.#accounts.size > 0 && !signal.aborted) {
      for (const [accountId, tallies] of this.#accounts) {
        if (signal.aborted) break;
        const now = performance.now();
        const due = [...tallies].filter(([, tally]) => tally.due <= now);
        for (const [name, { attempts }] of due) if (attempts === 0) tallies.delete(name);
        if (tallies.size === 0) this.#accounts.delete(accountId);
        const unrecorded = due.map(([, tally]) => tally).filter(({ attempts }) => attempts > 0);
        if (unrecorded.length > 0) await this.#record(accountId, unrecorded);
      }
      await wait(ROUND_MS, undefined, { signal }).catch(() => {});
    }
    this.#running = null;
  }

  async #record(accountId: number, tallies: readonly Tally[]): Promise<void> {
    try {
      await record(this.#writer, accountId, tallies, this.#everySeconds);
    } catch (error) {
      if (error instanceof LogAbsent) {
        // The account lives in another cell by now, which refuses the key itself.
        this.#accounts.delete(accountId);
        return;
      }
      this.#log.error(
        { err: error },
        'the use of a refused key could not be recorded; the service will retry',
      );
      for (const tally of tallies) tally.due = performance.now() + 1_000 * this.#everySeconds;
    }
  }
}

function nameOf({ apiKeyId, byAddress }: Omit<RefusedKey, 'accountId'>, address: string | null): string {
  return `${apiKeyId} ${byAddress} ${address}`;
}

/**
 * Records an account's due tallies in one transaction. A tally that another service recorded within the last minute
 * becomes due when that minute is over.
 */
async function record(
  writer: pg.Pool,
  accountId: number,
  tallies: readonly Tally[],
  everySeconds: number,
): Promise<void> {
  const recorded: { tally: Tally; attempts: number }[] = [];
  const later = new Map<Tally, number>();
  const change = async ({ client, at, record: recordEntry }: Change) => {
    const recent = await client.query<{
      api_key_id: number;
      address: string | null;
      by_address: boolean;
      seconds: number;
    }>(recentEntries, [accountId, at, everySeconds]);
    const waits = new Map(
      recent.rows.map(({ api_key_id: apiKeyId, by_address: byAddress, address, seconds }) => [
        nameOf({ apiKeyId, byAddress }, address),
        seconds,
      ]),
    );
    const ids = [...new Set(tallies.map(({ apiKeyId }) => apiKeyId))];
    const keys = await client.query<{ api_key_id: number; name: string; reason: string }>(refusedKeys, [
      accountId,
      ids,
      at,
    ]);
    const keyOf = new Map(keys.rows.map((row) => [row.api_key_id, row]));
    for (const tally of tallies) {
      const { apiKeyId, byAddress, address, attempts } = tally;
      const seconds = waits.get(nameOf(tally, address)) ?? 0;
      const key = keyOf.get(apiKeyId);
      if (seconds > 0 || !key) {
        later.set(tally, seconds);
        continue;
      }
      recordEntry('api_key_refused', '/keys', {
        ...{ api_key_id: apiKeyId, api_key_name: key.name },
        reason: byAddress ? ADDRESS_NOT_ALLOWED : key.reason,
        ...{ source_ip: address, attempts },
      });
      recorded.push({ tally, attempts });
    }
  };
  await inTransaction(writer, async (client) => {
    await client.query(noLongWait);
    await changeWithin(client, accountId, change);
  });
  const now = performance.now();
  for (const [tally, seconds] of later) tally.due = now + 1_000 * seconds;
  for (const { tally, attempts } of recorded) {
    tally.attempts -= attempts;
    tally.due = now + 1_000 * everySeconds;
  }
}
