import { createHash } from 'node:crypto';
import type { CounterBefore } from '../counters.ts';
import { connectFailure } from '../session/failures/connect-failure.ts';
import { LoginsPaused } from '../session/postgres/waiting-logins.ts';
import { reachTarget } from '../session/reach.ts';
import type { Target } from '../session/session.ts';
import type { Run } from './measure-checks.ts';

/** The counters' name for the login that the server did not answer, and how many were not before it. */
const UNANSWERED = 'unanswered_login';

/** From an unanswered login to that of a later run, unless pulses see an answer before; longer after each further one. */
const FIRST_SECONDS = 600;
const LONGEST_SECONDS = 1_200;

/** Older than any pause. */
const LONG_AGO = 10 * LONGEST_SECONDS;

interface Unanswered {
  seconds: number;
  times: number;
}

function findUnanswered({ before, target }: Pick<Run, 'before' | 'target'>): Unanswered | null {
  const sample = before.find(({ checkId }) => checkId === UNANSWERED);
  const { times, server } = sample?.rows[0] ?? {};
  const isThere = sample && typeof times === 'number' && server === nameServer(target);
  return isThere ? { seconds: sample.seconds, times } : null;
}

/** A digest of where the login is: that of a changed connection is another one. */
function nameServer({ connectionType, host, port, database, tunnel }: Target): string {
  const place = JSON.stringify([connectionType, host, port, database, tunnel?.host ?? null]);
  return createHash('sha256').update(place).digest('hex').slice(0, 32);
}

/**
 * Reaches the target of a run. It logs in to none if the login of an earlier run may still wait on the server: each run would add one.
 */
export async function reachUnlessPaused(run: Run): ReturnType<typeof reachTarget> {
  const last = findUnanswered(run);
  const pause = last ? Math.min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** Math.min(last.times, 10)) : 0;
  if (last && last.seconds < pause) {
    const paused = new LoginsPaused(toMinutes(last.seconds), toMinutes(pause - last.seconds));
    return { failure: connectFailure(paused, 0, run.target), tries: 1 };
  }
  const reached = await reachTarget(run);
  const isUnanswered = 'failure' in reached && reached.failure.isLoginUnanswered === true;
  const rows = isUnanswered ? [{ times: last ? last.times + 1 : 0, server: nameServer(run.target) }] : [];
  const after = (Date.now() - run.began) / 1_000;
  if (last || isUnanswered) run.counters.push({ checkId: UNANSWERED, database: '', after, rows });
  return reached;
}

function toMinutes(seconds: number): number {
  return Math.max(1, Math.ceil(seconds / 60));
}

/** The counters for a run that logs in whatever was before: a person asked for it, or pulses saw the server answer. */
export function withoutPause(before: CounterBefore[]): CounterBefore[] {
  return before.map((sample) => (sample.checkId === UNANSWERED ? { ...sample, seconds: LONG_AGO } : sample));
}
