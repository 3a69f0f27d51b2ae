import { createHash } from 'node:crypto';
import type pg from 'pg';
import { Rejection } from '../../platform/rejection.ts';
import type { Read } from '../../store/read.ts';
import { isHeard } from '../../store/sql/collector-contact.sql.ts';

/** A collector as commands and the console show it. */
export interface CollectorRow {
  id: number;
  name: string;
  /** `waiting`: it was never enrolled; `silent`: no contact for 60 s. */
  state: 'waiting' | 'connected' | 'silent' | 'revoked';
  /** Of its public key, as the collector shows it; null before it is enrolled. */
  fingerprint: string | null;
  /** Of its program; null before it is enrolled. */
  version: string | null;
  enrolled_at: Date | null;
  last_contact_at: Date | null;
  revoked_at: Date | null;
  /** How many connections it measures. */
  connections: number;
  /** The results that wait there for delivery, as it said last. */
  buffered: number;
  /** How old the oldest of them was. */
  buffered_seconds: number;
}

const state = `
  case when c.revoked_at is not null then 'revoked'
       when c.enrolled_at is null then 'waiting'
       when ${isHeard('c')} then 'connected'
       else 'silent' end`;

const select = `
  select c.collector_id as id, c.name, ${state} as state, c.public_key, c.version, c.enrolled_at, c.last_contact_at,
         c.revoked_at, c.buffered, c.buffered_seconds,
         (select count(*)::int from collected_connection m
           where m.account_id = $1 and m.collector_id = c.collector_id) as connections
    from collector c
   where c.account_id = $1 and ($2::bigint is null or c.collector_id = $2)
   order by c.collector_id`;

/** The account's collectors by id, or the one of this id. */
export async function listCollectors(
  read: Read,
  accountId: number,
  collectorId: number | null = null,
): Promise<CollectorRow[]> {
  const rows = await read<Omit<CollectorRow, 'fingerprint'> & { public_key: Buffer | null }>(select, [
    accountId,
    collectorId,
  ]);
  return rows.map(({ public_key, ...row }) => {
    const { id, name, state: now, ...more } = row;
    return { id, name, state: now, fingerprint: public_key && fingerprintOf(public_key), ...more };
  });
}

/** The fingerprint of an Ed25519 public key of 32 bytes, as `ssh-keygen` writes them: `SHA256:` and base64. */
export function fingerprintOf(publicKey: Buffer): string {
  return `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`;
}

const find = `
  select collector_id as id, name, revoked_at is not null as is_revoked
    from collector
   where account_id = $1 and lower(name) = lower($2)
     for share`;

/** The account's collector of this name, for a new connection. Throws a {@link Rejection} if there is none. */
export async function requireCollector(
  client: pg.ClientBase,
  accountId: number,
  name: string,
): Promise<{ id: number; name: string }> {
  const { rows } = await client.query<{ id: number; name: string; is_revoked: boolean }>(find, [
    accountId,
    name,
  ]);
  const [row] = rows;
  if (row && !row.is_revoked) return { id: row.id, name: row.name };
  const problem = row
    ? `Collector ${row.name} is revoked: enrol it again first.`
    : `The account has no collector of this name: make one with "collector enrol".`;
  throw new Rejection('invalid_parameter', problem, { parameter: 'collector' });
}

const ownerOf = 'select account_id from collector where collector_id = $1';

/** The account of a collector. Throws a {@link Rejection} if it does not exist. */
export async function accountOfCollector(writer: pg.Pool, collectorId: number): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(ownerOf, [collectorId]);
  const [row] = rows;
  if (!row) throw new Rejection('not_found', `There is no collector ${collectorId}: see "collector list".`);
  return row.account_id;
}
