import type pg from 'pg';
import type { Logger } from 'pino';
import { changeAccount } from '../activity/record-entry.ts';
import type { Finding, Outcome, Thresholds } from '../checks/check.ts';
import { score, summaryText, worstFirst } from '../checks/score.ts';
import { findingsBefore, recordCheck } from '../health/record-check.ts';
import { recordFindings, standingTicketsOf } from '../ops/record-findings.ts';
import { openCredential } from './credentials.ts';
import type { PostgresTarget } from './postgres-session.ts';
import { measurePostgres } from './postgres-target.ts';

/** What a health check needs beside the connection. */
export interface MonitorDeps {
  /** A pool of the writer's role on the store. */
  writer: pg.Pool;
  /** The 32 bytes of DBVITALS_SECRET_KEY. */
  secret: Buffer;
  allowPrivateTargets: boolean;
  /** By check id, where they are not to be the check's own. */
  thresholds?: Readonly<Record<string, Thresholds>>;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Which connection, and whose. */
export interface ConnectionKey {
  accountId: number;
  connectionId: number;
}

/** A stored run, as the specification's section 2.3 has it. */
export interface StoredCheck {
  id: number;
  score: number;
  summary_text: string;
  created_at: string;
  /** Worst first. */
  checks: Omit<Finding, 'database' | 'object'>[];
}

const NEVER = new AbortController().signal;

/**
 * Runs a health check of a connection now: measures, outside of any transaction, for at most 120 s, then stores the
 * result with its tickets and entries. Null when there is no such connection or it was removed meanwhile. Throws when
 * the store fails or the credential does not open (nothing is stored then), and the reason of `signal` once aborted.
 * It takes no claim: {@link checkNow} of schedule.ts does.
 */
export async function runHealthCheck(
  deps: MonitorDeps,
  connection: ConnectionKey,
  signal: AbortSignal = NEVER,
): Promise<StoredCheck | null> {
  const target = await loadTarget(deps, connection);
  if (!target) return null;
  const { allowPrivateTargets, thresholds = {} } = deps;
  const outcomes = await measurePostgres(target, { allowPrivateTargets, thresholds, signal });
  return store(deps.writer, connection, outcomes);
}

const selectTarget = `
  select connection_type as "connectionType", host, port, database, username, tls, credential
    from connection
   where account_id = $1 and connection_id = $2 and engine = 'postgres' and removed_at is null`;

type TargetRow = Omit<PostgresTarget, 'password'> & { credential: Buffer | null };

async function loadTarget(
  { writer, secret }: MonitorDeps,
  connection: ConnectionKey,
): Promise<PostgresTarget | null> {
  const values = [connection.accountId, connection.connectionId];
  const { rows } = await writer.query<TargetRow>(selectTarget, values);
  const [row] = rows;
  if (!row) return null;
  const { credential, ...target } = row;
  const password = credential && (await openCredential(writer, secret, connection, credential));
  return { ...target, password };
}

/** One short transaction that holds the account's place in its log: a handful of statements, whatever was found. */
function store(writer: pg.Pool, connection: ConnectionKey, outcomes: Outcome[]): Promise<StoredCheck | null> {
  return changeAccount(writer, connection.accountId, async ({ client, at, record }) => {
    const scope = { ...connection, at };
    const previous = await findingsBefore(client, connection);
    if (!previous) return null;
    const tickets = await standingTicketsOf(client, scope);
    const points = score(
      outcomes,
      tickets.filter((ticket) => ticket.status === 'open'),
    );
    const summary = summaryText(outcomes);
    const findings = worstFirst(outcomes);
    const stored = await recordCheck(client, { ...scope, score: points, summaryText: summary, findings });
    const { connectionId: connection_id } = connection;
    record('health_check_completed', `/health/connections/${connection_id}`, {
      connection_id,
      score: points,
      health_check_id: stored.id,
    });
    for (const entry of await recordFindings(client, scope, { outcomes, previous, tickets })) {
      record(entry.actionType, entry.pagePath, entry.properties);
    }
    return {
      id: stored.id,
      score: points,
      summary_text: summary,
      created_at: stored.created_at.toISOString(),
      checks: findings.map(({ database: _database, object: _object, ...shown }) => shown),
    };
  });
}
