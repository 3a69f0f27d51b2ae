import type pg from 'pg';
import { notFound } from '../../platform/rejection.ts';
import type { SilenceReason } from '../../vocabulary/silence-reasons.ts';

/** Why a finding was silenced. */
export const REASONS = [
  'accepted_risk',
  'false_positive',
  'wont_fix',
  'maintenance',
] as const satisfies SilenceReason[];

/** A silence as the commands show it. */
export interface SilenceRow {
  id: number;
  connection_id: number;
  check_id: string;
  object: string | null;
  reason: SilenceReason;
  note: string;
  created_at: Date;
  /** null = until ended manually. */
  until: Date | null;
}

export const silenceColumns = `
  silence_id as id, connection_id, check_id, object, reason, note, created_at, ends_at as until`;

const ownerOf = 'select account_id from silence where silence_id = $1';

/** The silence's account. Throws `notFound`. */
export async function accountOfSilence(writer: pg.Pool, id: number): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(ownerOf, [id]);
  const [row] = rows;
  if (!row) throw notFound('active silence', id, ': see "silence list".');
  return row.account_id;
}
