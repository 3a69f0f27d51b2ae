import { hash, type KeyObject } from 'node:crypto';
import type pg from 'pg';
import type { SecretKeys } from '../../platform/encryption.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { inTransaction } from '../../store/connect.ts';
import { type CanonicalEntry, entriesBetween, LEAF_BYTES, leafOf, NO_LEAF } from '../canonical-entry.ts';
import {
  isSigned,
  NO_SEAL,
  SEAL_FORMAT,
  type Seal,
  type SealRow,
  type SignedSeal,
  sealColumns,
  sealHash,
  sealOf,
  signSeal,
} from './seal.ts';
import { ensureSealKeys, followedSeals } from './seal-key.ts';

/** Maximum number of entries per seal: 128 KiB of leaves. */
const ENTRIES_A_SEAL = 4_096;
/**
 * Entries that are read and hashed at once. This takes about a millisecond, the longest that requests of this process
 * wait.
 */
const ENTRIES_A_STEP = 128;

const latestSeals = `
    from activity_head h
    left join activity_floor f on f.account_id = h.account_id
    left join lateral (select last_id, cut_to from activity_seal s
                        where s.account_id = h.account_id order by number desc limit 1) s on true`;

// Accounts with unsealed entries, or with a seal that is past its retention and not yet released by another seal. A copy that has
// arrived is sealed once its move has ended: until then the cell that it leaves may go on with other seals.
const unsealedLogs = `
  select h.account_id
  ${latestSeals}
   where ($1::bigint is null or h.account_id = $1)
     and ${mayStartWork('h.account_id')}
     and (h.last_id > coalesce(s.last_id, f.first_id - 1, 0)
          or $2::integer is not null and s.cut_to < (
               select last_id from activity_seal o
                where o.account_id = h.account_id and o.last_at < now() - $2 * interval '24 hours'
                order by last_at desc, number desc limit 1))
   order by h.account_id`;

const latestSeal = `
  select ${sealColumns} from activity_seal s where account_id = $1 order by number desc limit 1`;

const sealPastDays = `
  select ${sealColumns} from activity_seal s
   where account_id = $1 and last_at < now() - $2::integer * interval '24 hours'
   order by last_at desc, number desc limit 1`;

// A seal spans at most 24 hours, because retention deletes whole seals. The entry that the head names is committed,
// and so are all before it.
const nextRange = `
  select n.first_id, h.last_id as head_id,
         greatest(least(h.last_id, n.first_id + ${ENTRIES_A_SEAL - 1}, span.last_id), least(h.last_id, n.first_id)) as last_id
    from activity_head h
    left join activity_floor f on f.account_id = h.account_id
    cross join lateral (select coalesce($2::bigint + 1, f.first_id, 1) as first_id) n
    left join lateral (select activity_id_at($1, occurred_at + interval '24 hours') - 1 as last_id
                         from activity a where a.account_id = $1 and a.id = n.first_id) span on true
   where h.account_id = $1`;

const insertSeal = `
  with kept as (
    insert into activity_leaves (account_id, last_id, leaves) select $1, $4, $12 where $3::bigint <= $4::bigint
  )
  insert into activity_seal (account_id, number, first_id, last_id, last_at, cut_to, leaves_sha256, previous, public_key,
                             sealed_at, signature)
  values ($1, $2, $3, $4, $5, $6, decode($7, 'hex'), decode($8, 'hex'), decode($9, 'hex'), $10, decode($11, 'hex'))`;

/** Options of sealing. */
export interface Sealing {
  /** A pool of the store's owner: no other role may write seals. */
  owner: pg.Pool;
  /** The keys of DBVITALS_SECRET_KEY. */
  secret: SecretKeys;
  /** How many days entries are kept. Retention may delete older ones. null = for ever. */
  activityDays: number | null;
  /** Called after each step with its duration in milliseconds, to pause. */
  rest?: (took: number) => Promise<void>;
}

/**
 * Seals the new entries of every account, or of one, and yields each seal. The caller may stop after each. Takes no
 * lock that a request waits for. Several processes may do so at once: each account is sealed by one at a time. If an
 * account can't be sealed, the others still are, and the error is thrown at the end.
 */
export async function* sealEntries(sealing: Sealing, accountId?: number): AsyncGenerator<Seal> {
  const { owner, activityDays } = sealing;
  const { rows } = await owner.query<{ account_id: number }>(unsealedLogs, [accountId, activityDays]);
  const failures: unknown[] = [];
  for (const { account_id } of rows) {
    try {
      for (let more = true; more; ) {
        const next = await sealNext(sealing, account_id);
        if (next) yield next.seal;
        more = next !== null && next.seal.last_id < next.headId;
      }
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function sealNext({ owner, secret, activityDays, rest }: Sealing, accountId: number) {
  return inTransaction(owner, async (client) => {
    const keys = await ensureSealKeys(client, secret, accountId);
    const ours = new OurSeals(client, secret, accountId, keys);
    const before = await ours.latest();
    const range = await nextRangeOf(client, accountId, before?.last_id ?? null);
    const past = activityDays === null ? null : await ours.pastDays(activityDays);
    const cutTo = Math.max(before?.cut_to ?? range.first_id - 1, past?.last_id ?? 0);
    if (range.last_id < range.first_id && cutTo === (before?.cut_to ?? cutTo)) return null;

    const now = `${new Date().toISOString().slice(0, -1)}000Z`; // not the database's clock: its owner could turn it back
    const { leaves, lastAt } = await readLeaves(client, accountId, range, rest);
    const [[publicKey, privateKey] = []] = keys;
    if (publicKey === undefined || privateKey === undefined)
      throw new Error('the account has no signing key');
    const signed = signSeal(
      {
        format: SEAL_FORMAT,
        account_id: accountId,
        number: (before?.number ?? 0) + 1,
        first_id: range.first_id,
        last_id: range.last_id,
        last_at: lastAt ?? before?.last_at ?? now,
        cut_to: cutTo,
        leaves_sha256: hash('sha256', leaves),
        previous: before ? sealHash(before) : NO_SEAL,
        public_key: publicKey,
        sealed_at: now,
      },
      privateKey,
    );
    await store(client, signed, leaves);
    return { seal: signed.seal, headId: range.head_id };
  });
}

/**
 * Reads the seals to build on. Throws if one is not validly signed: otherwise a new seal would confirm a forgery. A seal of a lost
 * key is one to build on if that was recorded when the key was replaced.
 */
class OurSeals {
  readonly #client: pg.ClientBase;
  readonly #secret: SecretKeys;
  readonly #accountId: number;
  readonly #keys: Map<string, KeyObject>;

  constructor(client: pg.ClientBase, secret: SecretKeys, accountId: number, keys: Map<string, KeyObject>) {
    this.#client = client;
    this.#secret = secret;
    this.#accountId = accountId;
    this.#keys = keys;
  }

  async latest(): Promise<Seal | null> {
    const signed = await this.#read(latestSeal, []);
    if (!signed || this.#isOwn(signed)) return signed?.seal ?? null;
    const { hashes } = await this.#followed();
    if (isSigned(signed) && hashes.has(sealHash(signed.seal))) return signed.seal;
    throw notAsSigned(signed);
  }

  /** The newest seal whose entries are past their days. */
  async pastDays(days: number): Promise<Seal | null> {
    const signed = await this.#read(sealPastDays, [days]);
    if (!signed || this.#isOwn(signed)) return signed?.seal ?? null;
    const { publicKeys } = await this.#followed();
    if (isSigned(signed) && publicKeys.has(signed.seal.public_key)) return signed.seal;
    // Of a key that was lost before another one was: retention waits until later seals are past their days.
    if (isSigned(signed) && publicKeys.size > 0) return null;
    throw notAsSigned(signed);
  }

  async #read(statement: string, values: unknown[]): Promise<SignedSeal | null> {
    const { rows } = await this.#client.query<SealRow>(statement, [this.#accountId, ...values]);
    return rows[0] ? sealOf(rows[0]) : null;
  }

  #isOwn(signed: SignedSeal): boolean {
    return this.#keys.has(signed.seal.public_key) && isSigned(signed);
  }

  #followed() {
    return followedSeals(this.#client, this.#secret, this.#accountId);
  }
}

function notAsSigned({ seal }: SignedSeal): Error {
  return new Error(
    `Seal ${seal.number} of account ${seal.account_id} is not as it was signed, so no new seal was made: run "activity verify".`,
  );
}

interface Range {
  first_id: number;
  last_id: number;
  head_id: number;
}

async function nextRangeOf(
  client: pg.ClientBase,
  accountId: number,
  sealedTo: number | null,
): Promise<Range> {
  const { rows } = await client.query<Range>(nextRange, [accountId, sealedTo]);
  if (!rows[0]) throw new Error(`There is no account ${accountId}.`);
  const [range] = rows;
  return { ...range, last_id: Math.max(range.last_id, range.first_id - 1) };
}

/** Reads the leaves of the range, and the time of its last entry; null if it has none. */
async function readLeaves(client: pg.ClientBase, accountId: number, range: Range, rest: Sealing['rest']) {
  const leaves: Buffer[] = [];
  let lastAt: string | null = null;
  for (let first = range.first_id; first <= range.last_id; first += ENTRIES_A_STEP) {
    const began = performance.now();
    const last = Math.min(first + ENTRIES_A_STEP - 1, range.last_id);
    const { rows } = await client.query<CanonicalEntry>(entriesBetween, [accountId, first, last]);
    for (const entry of rows) {
      while (range.first_id + leaves.length < entry.id) leaves.push(NO_LEAF);
      leaves.push(leafOf(entry));
      lastAt = entry.occurred_at;
    }
    // The transaction has written nothing and holds no snapshot, so it may wait.
    await rest?.(performance.now() - began);
  }
  while (range.first_id + leaves.length <= range.last_id) leaves.push(NO_LEAF);
  return { leaves: Buffer.concat(leaves, leaves.length * LEAF_BYTES), lastAt };
}

async function store(client: pg.ClientBase, { seal, signature }: SignedSeal, leaves: Buffer): Promise<void> {
  await client.query(insertSeal, [
    seal.account_id,
    seal.number,
    seal.first_id,
    seal.last_id,
    seal.last_at,
    seal.cut_to,
    seal.leaves_sha256,
    seal.previous,
    seal.public_key,
    seal.sealed_at,
    signature,
    leaves,
  ]);
}
