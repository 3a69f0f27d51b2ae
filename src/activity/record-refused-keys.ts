import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { inTransaction } from '../store/connect.ts';
import { type Change, changeWithin, LogAbsent } from './record-entry.ts';

/** A key that exists and is refused. */
export interface RefusedKey {
  readonly accountId: number;
  readonly apiKeyId: number;
  /** Whether only the client's address is refused. Otherwise the key was revoked, has expired or was replaced. */
  readonly byAddress: boolean;
}

/** The attempts with one key from one address that this process has not stored yet. */
interface Tally extends RefusedKey {
  /** Empty for all addresses beyond the limit. */
  readonly address: string;
  attempts: number;
  /** When the tally gives its room to others, in milliseconds of this process's monotonic clock. */
  until: number;
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

/** Pause between rounds, in milliseconds. A process that is killed loses at most the attempts of this time. */
const ROUND_MS = 1_000;

/** How often a stop tries to record what is left. */
const LAST_TRIES = 5;

const storeAttempts = `
  insert into refused_key as r (account_id, api_key_id, by_address, source_ip, attempts, due_at)
  select k.account_id, k.api_key_id, t.by_address, t.source_ip, t.attempts, clock_timestamp()
    from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[], $5::integer[])
         as t (account_id, api_key_id, by_address, source_ip, attempts)
    join api_key k on k.account_id = t.account_id and k.api_key_id = t.api_key_id
    join account a on a.account_id = k.account_id and a.is_here
   order by 1, 2, 3, 4
  on conflict (account_id, api_key_id, by_address, source_ip) do update set attempts = r.attempts + excluded.attempts
  returning account_id, api_key_id`;

const accountsDue = `
  select distinct account_id from refused_key where due_at <= clock_timestamp() or $1 order by account_id`;

// A change may lock the account's log. The connection must not wait long for it, because key lookups use the same
// pool.
const noLongWait = `set local lock_timeout = '200ms'`;

/** The reason in the entry of a key that was refused by address. */
const ADDRESS_NOT_ALLOWED = 'address_not_allowed';

// The log's lock is held, so services take turns. A row without attempts only says that the minute of an entry is not over.
const takeDue = `
  with due as (
    select r.*, k.name,
           case when r.by_address then '${ADDRESS_NOT_ALLOWED}'
                when k.revoked_at is null or k.revoked_at > $2 then 'expired'
                when k.replaced_by is not null then 'regenerated'
                else 'revoked' end as reason
      from refused_key r
      join api_key k on k.account_id = r.account_id and k.api_key_id = r.api_key_id
     where r.account_id = $1 and (r.due_at <= $2 or $4)
       for update of r
  ), ended as (
    delete from refused_key r using due d
     where (r.account_id, r.api_key_id, r.by_address, r.source_ip) = (d.account_id, d.api_key_id, d.by_address, d.source_ip)
       and d.attempts = 0 and d.due_at <= $2
  ), taken as (
    update refused_key r set attempts = 0, due_at = $2::timestamptz + make_interval(secs => $3)
      from due d
     where (r.account_id, r.api_key_id, r.by_address, r.source_ip) = (d.account_id, d.api_key_id, d.by_address, d.source_ip)
       and d.attempts > 0
  )
  select api_key_id, name, reason, source_ip, attempts from due where attempts > 0 order by api_key_id, source_ip`;

interface DueRow {
  api_key_id: number;
  name: string;
  reason: string;
  source_ip: string;
  attempts: number;
}

/**
 * Records in an account's log that a key was refused: `api_key_refused`, one entry per minute for each key and
 * address, with the number of attempts since the last one. Requests do not wait for it, so response times reveal
 * nothing. Attempts are stored every second, so a process that is killed loses at most those of its last second; a clean
 * stop records all of them.
 */
export class RefusedKeys {
  readonly #writer: pg.Pool;
  readonly #log: Pick<Logger, 'error'>;
  /** By account, then by key and address. */
  readonly #accounts = new Map<number, Map<string, Tally>>();
  readonly #everyMs: number;
  readonly #ending = new AbortController();
  readonly #idle: NodeJS.Timeout;
  #running: Promise<void> | null = null;
  /** Until then no failure is logged. */
  #quietUntil = 0;

  /** `writer` is a pool of the writer's role. At most one of its connections is in use, and only briefly. */
  constructor(writer: pg.Pool, log: Pick<Logger, 'error'>, everySeconds = EVERY_SECONDS) {
    this.#writer = writer;
    this.#log = log;
    this.#everyMs = 1_000 * everySeconds;
    // For what other services left.
    this.#idle = setInterval(() => this.#start(), this.#everyMs).unref();
  }

  /** Counts an attempt. */
  note({ accountId, apiKeyId, byAddress }: RefusedKey, address: string): void {
    const tally = this.#tallyOf({ accountId, apiKeyId, byAddress }, address);
    if (tally === null) return;
    tally.attempts += 1;
    tally.until = performance.now() + this.#everyMs;
    this.#start();
  }

  /** Records what services left that were killed. Call it once the store is open. Never throws. */
  recordLeft(): Promise<void> {
    return this.#try(() => this.#recordDue(true));
  }

  /** Ends the rounds, and records everything that this process counted. The caller ends the pool. */
  async close(): Promise<void> {
    clearInterval(this.#idle);
    this.#ending.abort();
    await this.#running;
    for (let tries = 1; tries <= LAST_TRIES; tries += 1) {
      try {
        const accountIds = [...this.#accounts.keys()];
        await this.#store();
        for (const accountId of accountIds) await this.#record(accountId, true);
        return;
      } catch (error) {
        if (tries === LAST_TRIES)
          this.#log.error({ err: error }, 'the use of refused keys could not be recorded');
        else await wait(ROUND_MS / LAST_TRIES);
      }
    }
  }

  #start(): void {
    if (!this.#ending.signal.aborted) this.#running ??= this.#run();
  }

  #tallyOf(key: RefusedKey, address: string): Tally | null {
    const tallies = this.#accounts.get(key.accountId) ?? new Map<string, Tally>();
    const known = tallies.get(nameOf(key, address));
    if (known) return known;
    const addresses = [...tallies.values()].filter(({ apiKeyId }) => apiKeyId === key.apiKeyId).length;
    const ownAddress = addresses < MOST_ADDRESSES ? address : '';
    const name = nameOf(key, ownAddress);
    const tally = tallies.get(name) ?? { ...key, address: ownAddress, attempts: 0, until: 0 };
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
    do {
      await this.#try(async () => {
        await this.#store();
        await this.#recordDue(false);
      });
      await wait(ROUND_MS, undefined, { signal }).catch(() => {});
    } while (this.#accounts.size > 0 && !signal.aborted);
    this.#running = null;
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const now = performance.now();
      if (now < this.#quietUntil) return;
      this.#quietUntil = now + this.#everyMs;
      this.#log.error(
        { err: error },
        'the use of a refused key could not be recorded; the service will retry',
      );
    }
  }

  /** Adds what was counted to the store, and forgets tallies whose minute is over. */
  async #store(): Promise<void> {
    const now = performance.now();
    const counted = [...this.#accounts.values()]
      .flatMap((tallies) => [...tallies.values()])
      .filter(({ attempts }) => attempts > 0)
      .map((tally) => ({ tally, attempts: tally.attempts }));
    if (counted.length > 0) {
      const column = <T>(value: (tally: Tally) => T) => counted.map(({ tally }) => value(tally));
      const { rows } = await this.#writer.query<{ account_id: number; api_key_id: number }>(storeAttempts, [
        column(({ accountId }) => accountId),
        column(({ apiKeyId }) => apiKeyId),
        column(({ byAddress }) => byAddress),
        column(({ address }) => address),
        counted.map(({ attempts }) => attempts),
      ]);
      const stored = new Set(rows.map((row) => `${row.account_id} ${row.api_key_id}`));
      for (const { tally, attempts } of counted) {
        tally.attempts -= attempts;
        // The account lives in another cell by now, which refuses the key itself.
        if (!stored.has(`${tally.accountId} ${tally.apiKeyId}`)) tally.until = 0;
      }
    }
    for (const [accountId, tallies] of this.#accounts) {
      for (const [name, { attempts, until }] of tallies)
        if (attempts === 0 && until <= now) tallies.delete(name);
      if (tallies.size === 0) this.#accounts.delete(accountId);
    }
  }

  /** Records the attempts of all accounts whose last entry is a minute old, or of `all`. */
  async #recordDue(all: boolean): Promise<void> {
    const { rows } = await this.#writer.query<{ account_id: number }>(accountsDue, [all]);
    const failures: unknown[] = [];
    for (const { account_id } of rows) {
      if (this.#ending.signal.aborted) return;
      await this.#record(account_id, all).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  async #record(accountId: number, all: boolean): Promise<void> {
    const change = async ({ client, at, record }: Change) => {
      const values = [accountId, at, this.#everyMs / 1_000, all];
      const { rows } = await client.query<DueRow>(takeDue, values);
      for (const { api_key_id, name, reason, source_ip, attempts } of rows) {
        record('api_key_refused', '/keys', {
          api_key_id,
          api_key_name: name,
          reason,
          source_ip: source_ip === '' ? null : source_ip,
          attempts,
        });
      }
    };
    try {
      await inTransaction(this.#writer, async (client) => {
        await client.query(noLongWait);
        await changeWithin(client, accountId, change);
      });
    } catch (error) {
      if (!(error instanceof LogAbsent)) throw error;
      await this.#writer.query('delete from refused_key where account_id = $1', [accountId]);
    }
  }
}

function nameOf({ apiKeyId, byAddress }: Omit<RefusedKey, 'accountId'>, address: string): string {
  return `${apiKeyId} ${byAddress} ${address}`;
}
