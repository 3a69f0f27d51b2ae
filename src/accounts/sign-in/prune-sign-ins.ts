import type pg from 'pg';
import { doesNotMove } from '../../store/cells/moving.sql.ts';
import { LIVING } from './session/living-session.sql.ts';

/** Rows per step: a few steps remove what a busy service leaves in an hour. */
const STEP = 1_000;

// An expired link is kept for a while, so that its creator can be looked up beside the log.
const PAST: readonly string[] = [
  `delete from session where token_hash in (select token_hash from session s where not (${LIVING}) limit ${STEP})`,
  `delete from sign_in_failure where failure_id in (
     select failure_id from sign_in_failure where at < clock_timestamp() - interval '1 hour' limit ${STEP})`,
  `delete from asked_inbox where asked_id in (
     select asked_id from asked_inbox where at < clock_timestamp() - interval '1 day' limit ${STEP})`,
  `delete from challenge where challenge_hash in (
     select challenge_hash from challenge where expires_at < clock_timestamp() limit ${STEP})`,
  `delete from link where (account_id, token_hash) in (
     select account_id, token_hash from link where expires_at < clock_timestamp() - interval '30 days'
       and ${doesNotMove('link.account_id')} limit ${STEP})`,
];

/** Removes expired sessions, failed attempts, counts of mails, challenges and links; yields how many rows each step removed. */
export async function* pruneSignIns(owner: pg.Pool): AsyncGenerator<number> {
  for (const statement of PAST) {
    for (let removed = STEP; removed === STEP; ) {
      removed = (await owner.query(statement)).rowCount ?? 0;
      if (removed > 0) yield removed;
    }
  }
}
