import type pg from 'pg';
import type { Diagnosis } from './diagnosis.ts';

// A step of a move takes seconds, and copying an account of ten million entries some minutes.
const STALLED_HOURS = 1;

const selectStalled = `
  select account_id as "accountId", other_cell as "otherCell", state
    from account_move
   where state in ('copying', 'draining', 'moving') and started_at < now() - $1 * interval '1 hour'
   order by state = 'copying', account_id
   limit 1`;

interface Stalled {
  accountId: number;
  otherCell: number;
  state: 'copying' | 'draining' | 'moving';
}

const EFFECT = {
  copying: 'It is served as before.',
  draining: 'It is served, but none of its health checks and notifications start.',
  moving: 'Its requests get 500, unless the directory leads to the other cell already.',
};

/** Warns of an account whose move was interrupted; null = there is none. The writer's role is enough. */
export async function checkMoves(pool: pg.Pool): Promise<Diagnosis | null> {
  const { rows } = await pool.query<Stalled>(selectStalled, [STALLED_HOURS]);
  const [stalled] = rows;
  if (!stalled) return null;
  const { accountId, otherCell, state } = stalled;
  return {
    about: 'moves',
    status: state === 'copying' ? 'warning' : 'error',
    message: `The move of account ${accountId} to cell ${otherCell} began more than ${STALLED_HOURS} h ago and is not complete. ${EFFECT[state]}`,
    remedy: `Run "dbvitals account move ${accountId} --to ${otherCell}" to finish it. Until the directory leads there, "dbvitals account move ${accountId} --undo" keeps the account where it is.`,
  };
}
