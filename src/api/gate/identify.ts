import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { hashKey, parseKey } from '../../platform/api-key.ts';
import { LookupQueue } from '../../store/pool/lookup-queue.ts';
import { GateFull } from './gate-errors.ts';
import type { InFlight } from './in-flight.ts';
import { type KeyAccess, keyAccess } from './key-access.ts';
import type { Paced } from './pace.ts';

/** What this process last knew about a key. It is a hint, which the gate confirms or rejects. */
export interface Identity extends Paced, InFlight {
  /** The cell that the account lived in. */
  readonly cellId: number;
  readonly accountId: number;
  readonly apiKeyId: number;
  plan: string;
  generation: number;
  access: KeyAccess;
  /** When the spent window of the key ends, as last seen, on this process's monotonic clock in milliseconds; 0 = not spent. */
  spentUntil: number;
}

/** A key that was revoked, has expired or was replaced. */
export interface DeadKey {
  readonly dead: true;
  readonly cellId: number;
  readonly accountId: number;
  readonly apiKeyId: number;
}

const findKeys = `
  select k.hash, k.account_id, k.api_key_id, a.plan, a.generation, k.version, k.scopes, k.allowed_addresses,
         k.valid_until <= clock_timestamp() as dead, a.is_here
    from api_key k
    join account a on a.account_id = k.account_id
   where k.hash = any($1::bytea[])`;

/** The store has the key, but answers nothing for its account, which is being moved or lives in another cell. */
export const ELSEWHERE = 'elsewhere';

/** What a store knows of a key; null = nothing. */
export type FoundKey = Identity | DeadKey | typeof ELSEWHERE | null;

/** Hints by the key's hash, so that no key stays in memory. All cells of a process share them. */
export type KeyHints = LRUCache<string, Identity>;

/** No hints yet. */
export function keyHints(): KeyHints {
  return new LRUCache<string, Identity>({ max: 50_000 });
}

/** Finds the account of a key in one cell, and leaves a hint that saves the query. */
export class Identifier {
  readonly #writer: pg.Pool;
  readonly #cellId: number;
  readonly #hints: KeyHints;
  readonly #queue: LookupQueue<NonNullable<FoundKey>>;

  constructor(writer: pg.Pool, cellId: number, hints: KeyHints) {
    this.#writer = writer;
    this.#cellId = cellId;
    this.#hints = hints;
    this.#queue = new LookupQueue(
      (hashes) => this.#ask(hashes),
      () => new GateFull('too many unknown keys'),
    );
  }

  /** Asks the store; null = the token is not a key. The key's hint, if there is one, gets its access as of now. */
  find(token: string): Promise<FoundKey> {
    return parseKey(token) ? this.#queue.find(hashKey(token)) : Promise.resolve(null);
  }

  /** Returns the hints of those hashes that are keys. */
  async #ask(hashes: readonly Buffer[]): Promise<Map<string, NonNullable<FoundKey>>> {
    const { rows } = await this.#writer.query<{
      hash: Buffer;
      account_id: number;
      api_key_id: number;
      plan: string;
      generation: number;
      version: number;
      scopes: string[] | null;
      allowed_addresses: string[] | null;
      dead: boolean;
      is_here: boolean;
    }>({ name: 'find keys', text: findKeys, values: [hashes] });
    const cellId = this.#cellId;
    const found = new Map<string, NonNullable<FoundKey>>();
    for (const row of rows) {
      const hint = row.hash.toString('latin1');
      if (!row.is_here) {
        found.set(hint, ELSEWHERE);
        continue;
      }
      if (row.dead) {
        found.set(hint, { dead: true, cellId, accountId: row.account_id, apiKeyId: row.api_key_id });
        continue;
      }
      const access = keyAccess(row.version, row.scopes, row.allowed_addresses);
      // All requests of a key share one hint, and an earlier batch may have found it meanwhile.
      const known = this.#hints.get(hint);
      const identity = (known?.cellId === cellId ? known : null) ?? {
        cellId,
        accountId: row.account_id,
        apiKeyId: row.api_key_id,
        plan: row.plan,
        generation: row.generation,
        access,
        spentUntil: 0,
        limit: 0,
        pacedUntil: 0,
        inFlight: 0,
        waiting: [],
      };
      identity.access = access;
      this.#hints.set(hint, identity);
      found.set(hint, identity);
    }
    return found;
  }
}

/** The name of a key's hint: the fastest form of its hash, in a third of the time of a Buffer. */
export function hintOf(token: string): string {
  return hash('sha256', token, 'binary');
}
