import type { Row } from '../../checks/fault.ts';
import type { Endpoint } from '../../platform/network/address.ts';
import { RunEnded } from '../measures/failed-sample.ts';
import { openDatabase, type Reach } from './reach.ts';
import { NoAnswer, type Session } from './session.ts';

/** A server counts as silent after so many statements, or connections, without an answer. */
const SILENCES = 2;

/** How often a session is opened again after the server ended it, as an administrator or a conflict with recovery does. */
const LOSSES = 3;

/** Longer answers are not kept in memory for another check. */
const KEPT_ROWS = 1_001;

/** What a run knows of the statements without an answer. */
export interface Silences extends Reach {
  /** Statements and connections that got no answer, not even a refusal. */
  silences: number;
}

/** Why the run ended before all was measured: its time is over, or the server is silent. Null while it goes on. */
export function reasonOfEnd({ silences, signal }: Silences): RunEnded | null {
  if (signal.aborted) return new RunEnded('the time of the run was over');
  // A server that cancels slow statements is not silent.
  return silences >= SILENCES ? new RunEnded('the run ended because the server no longer answers') : null;
}

/** Throws if the run has ended. */
export function stopWhereEnded(run: Silences): void {
  const reason = reasonOfEnd(run);
  if (reason) throw reason;
}

/**
 * A session that was just opened, and connects again if a statement without an answer closed its connection, or the server
 * ended it. No statement is sent twice: many checks count the tables, and three read the state of replication by the same one, which
 * waits for as long as a replica is being stopped.
 */
export function lastingSession(run: Silences, first: Session, endpoint: Endpoint, database: string): Session {
  const until = performance.now() + run.limits.databaseMs;
  const unanswered = new Map<string, NoAnswer>();
  const answered = new Map<string, Row[]>();
  let session = first;
  let isLost = false;
  let losses = 0;
  const reconnect = async () => {
    stopWhereEnded(run);
    try {
      return await openDatabase(run, endpoint, database, { until });
    } catch (error) {
      run.silences = SILENCES;
      throw error;
    }
  };
  const read = async (statement: string): Promise<Row[]> => {
    const before = unanswered.get(statement);
    if (before) throw before;
    const known = answered.get(statement);
    if (known) return known;
    if (!isLost && session.isLost?.() === true && ++losses <= LOSSES) isLost = true;
    if (isLost) {
      await session.close();
      session = await reconnect();
    }
    isLost = false;
    try {
      const rows = await session.read(statement);
      if (rows.length <= KEPT_ROWS) answered.set(statement, rows);
      return rows;
    } catch (error) {
      if (error instanceof NoAnswer) {
        isLost = true;
        unanswered.set(statement, error);
        run.silences++;
      }
      throw error;
    }
  };
  return { tls: first.tls, read, close: () => session.close() };
}
