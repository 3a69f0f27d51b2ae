import type pg from 'pg';

/** A collector that signs its requests. */
export interface SigningCollector {
  accountId: number;
  id: number;
  name: string;
  /** Ed25519, 32 bytes. */
  publicKey: Buffer;
}

const find = `
  select account_id as "accountId", collector_id as id, name, public_key as "publicKey"
    from collector
   where account_id = $1 and collector_id = $2 and public_key is not null and revoked_at is null`;

/** The key of a collector that may send requests; null if there is none. */
export async function findSigner(
  writer: pg.Pool,
  accountId: number,
  collectorId: number,
): Promise<SigningCollector | null> {
  return (await writer.query<SigningCollector>(find, [accountId, collectorId])).rows[0] ?? null;
}

/** How far a collector's clock may differ from the service's, in seconds. */
export const CLOCK_SECONDS = 120;

/** The most requests that are remembered: four times as many as 500 connections at 5 minutes send in the time that counts. */
const MOST_NONCES = 5_000;

// The row's lock lets no two requests with one nonce pass. Those too old to be accepted again are forgotten.
const admit = `
  update collector
     set last_contact_at = clock_timestamp(),
         nonces = array(select n from unnest(nonces) n
                         where n > (extract(epoch from clock_timestamp()) - 2 * ${CLOCK_SECONDS}) * 1e6) || $4::bigint
   where account_id = $1 and collector_id = $2 and public_key = $3 and revoked_at is null
     and not $4::bigint = any (nonces)
     and cardinality(nonces) < ${MOST_NONCES}`;

/**
 * Admits a request whose signature is valid: false if its nonce was used before, or the collector was revoked or got another key
 * meanwhile. Call it before anything is answered.
 */
export async function admitRequest(
  writer: pg.Pool,
  { accountId, id, publicKey }: SigningCollector,
  nonce: number,
): Promise<boolean> {
  return (await writer.query(admit, [accountId, id, publicKey, nonce])).rowCount === 1;
}

const seen = `
  update collector
     set version = $3, buffered = $4, buffered_seconds = $5
   where account_id = $1 and collector_id = $2
     and (version, buffered, buffered_seconds) is distinct from ($3, $4, $5)`;

/** What a collector says of itself when it asks for work. */
export interface CollectorFacts {
  /** Of its program. */
  version: string;
  /** The results that wait there for delivery, and how many seconds old the oldest is. */
  buffered: { results: number; seconds: number };
}

/** Stores what a collector says of itself. */
export async function storeCollectorFacts(
  writer: pg.Pool,
  { accountId, id }: Pick<SigningCollector, 'accountId' | 'id'>,
  { version, buffered }: CollectorFacts,
): Promise<void> {
  await writer.query(seen, [accountId, id, version, buffered.results, buffered.seconds]);
}
