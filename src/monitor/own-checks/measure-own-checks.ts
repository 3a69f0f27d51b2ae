import { createHash } from 'node:crypto';
import type { Check } from '../../checks/check.ts';
import type { Row } from '../../checks/fault.ts';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { readRows, WrongAnswer } from '../../checks/own/own-rows.ts';
import { readOwnStatement } from '../../checks/own/own-statement.ts';
import type { Endpoint } from '../../platform/network/address.ts';
import { cleanRows } from '../counters.ts';
import { failedSample, RunEnded } from '../measures/failed-sample.ts';
import type { Run } from '../measures/measure-checks.ts';
import type { Sample } from '../outcome.ts';
import { factsOf, msSince } from '../run-steps.ts';
import type { RunFacts } from '../session/engine-parts.ts';
import {
  causeOf,
  connectFailure,
  describeError,
  isTimeout,
  refusalOf,
} from '../session/failures/connect-failure.ts';
import { reasonOfEnd, stopWhereEnded } from '../session/lasting-session.ts';
import { openDatabase } from '../session/reach.ts';
import { requireUnlocked } from '../session/require-unlocked.ts';
import { NoAnswer, StatementCancelled } from '../session/session.ts';

/** The longest answer to the statement of an own check. */
const ANSWER_BYTES = 64 * 1024;

/** What a server may send besides: the login with its certificates. */
const LOGIN_BYTES = 32 * 1024;

/** How long after its time limit a statement may be answered. */
const GRACE_MS = 2_000;

/** How much a run may come early. */
const EARLY_SECONDS = 10;

/**
 * Measures the own checks of a connection. Each has a session to itself, because a statement may change its session, and
 * limits of its own. Never throws: what can't be measured is a failed sample.
 */
export async function measureOwnChecks(
  run: Run,
  endpoint: Endpoint,
  facts: Omit<RunFacts, 'databases' | 'leftOut'>,
): Promise<void> {
  for (const [check, own] of inTurn([...run.own], run.began)) {
    const began = performance.now();
    const sample = await takeSample(run, endpoint, facts, check, own);
    run.note?.('check', {
      check_id: check.id,
      database: sample.database,
      ms: msSince(began),
      ...factsOf(sample),
    });
    run.samples.get(check)?.push(sample);
  }
}

/** Each minute another one is the first, so that slow ones do not keep the same others from every run. */
function inTurn<T>(all: readonly T[], began: number): T[] {
  const first = Math.floor(began / 60_000) % Math.max(all.length, 1);
  return [...all.slice(first), ...all.slice(0, first)];
}

async function takeSample(
  run: Run,
  endpoint: Endpoint,
  facts: Omit<RunFacts, 'databases' | 'leftOut'>,
  check: Check,
  own: OwnCheck,
): Promise<Sample> {
  const name = own.database ?? run.target.database;
  // One session of MySQL sees all databases: findings name none.
  const database = run.target.engine === 'postgres' ? name : '';
  try {
    stopWhereEnded(run);
    const kept = own.every === null ? null : keptRows(run, check, own, database);
    const rows = kept ?? (await readFrom(run, endpoint, facts, own, name));
    if (own.every !== null && kept === null) {
      const after = (Date.now() - run.began) / 1_000;
      const stored = cleanRows([{ definition: definitionOf(own) }, ...rows]);
      run.counters.push({ checkId: check.id, database, after, rows: stored });
    }
    const thresholds = { ...check.thresholds, ...run.thresholds[check.id] };
    return {
      database,
      judgement: check.judge(rows, { ...facts, database, now: new Date(), thresholds }),
    };
  } catch (error) {
    const end = run.signal.aborted || error instanceof RunEnded ? reasonOfEnd(run) : null;
    if (end) return failedSample(check, { ...facts, database }, end);
    const status = refusalOf(error) === 'denied' ? 'skipped' : 'error';
    return { database, failed: `Not measured: ${reasonFor(run, own, error)}.`, status };
  }
}

/** The rows of an earlier run that are still young enough. Null if there are none, or the check was changed since. */
function keptRows(run: Run, check: Check, own: OwnCheck, database: string): Row[] | null {
  const last = run.before.find((each) => each.checkId === check.id && each.database === database);
  if (!last || own.every === null) return null;
  const age = last.seconds + (Date.now() - run.began) / 1_000;
  const [first, ...rows] = last.rows;
  const isKept = age < own.every - EARLY_SECONDS && first?.['definition'] === definitionOf(own);
  return isKept ? rows : null;
}

function definitionOf({ database, sql, unit }: OwnCheck): string {
  return createHash('sha256')
    .update(JSON.stringify([database, sql, unit]))
    .digest('base64');
}

/** Runs the statement of an own check in a session to itself. */
async function readFrom(
  run: Run,
  endpoint: Endpoint,
  facts: Omit<RunFacts, 'databases' | 'leftOut'>,
  own: OwnCheck,
  database: string,
): Promise<Row[]> {
  requireUnlocked(facts, database);
  const read = readOwnStatement(own.engine, own.sql);
  if ('problem' in read) throw new WrongAnswer(read.problem.replace(/^The statement/, 'it').slice(0, -1));
  const meter = { bytes: 0, statements: 0, milliseconds: 0 };
  const statementMs = own.timeout * 1_000;
  const answerMs = statementMs + GRACE_MS;
  const limits = { ...run.limits, statementMs, answerMs, runBytes: LOGIN_BYTES + ANSWER_BYTES };
  try {
    const until = performance.now() + run.limits.connectMs + 2 * answerMs;
    const session = await openDatabase({ ...run, meter, limits }, endpoint, database, { until }).catch(
      (error: unknown) => {
        throw new WrongAnswer(connectFailure(error, limits.connectMs, run.target).reason);
      },
    );
    try {
      const before = meter.bytes;
      const began = performance.now();
      const answer = await session.readOwn(read.statement);
      if (meter.bytes - before > ANSWER_BYTES) throw tooLarge();
      // MySQL's SLEEP() ends early without an error.
      if (performance.now() - began >= statementMs) throw new WrongAnswer(tooSlow(own));
      return readRows(answer);
    } finally {
      await session.close();
    }
  } finally {
    run.meter.bytes += meter.bytes;
    run.meter.statements += meter.statements;
    run.meter.milliseconds += meter.milliseconds;
  }
}

function tooLarge(): WrongAnswer {
  return new WrongAnswer('its answer is larger than 64 KiB');
}

function tooSlow({ timeout }: OwnCheck): string {
  return `it took more than ${timeout} s`;
}

// The messages of other errors may quote values, which must not leave the server. SQLSTATEs of PostgreSQL are about access,
// syntax, resources and operators; error numbers are those of MySQL and MariaDB about the same.
const TELLING =
  /^(?:0A|25|26|28|34|3D|3F|42|53|54|55|57|58)[0-9A-Z]{3}$|^(?:1044|1046|1049|1051|1054|1056|1060|1064|1066|1052|1109|1142|1143|1144|1146|1221|1222|1227|1290|1305|1356|1370|1419|3024|1969|1792)$/;

const WRITES = new Set(['25006', '1792', '1290']);

function reasonFor(run: Run, own: OwnCheck, error: unknown): string {
  if (error instanceof WrongAnswer || error instanceof StatementCancelled) return error.message;
  const { code, message } = describeError(error);
  const refusal = refusalOf(error);
  if (refusal === 'timeout' || error instanceof NoAnswer || isTimeout(error)) return tooSlow(own);
  if (refusal === 'locked') return 'an object that it reads is locked';
  if (WRITES.has(code)) return `it writes, and own checks run READ ONLY (${causeOf(error, 200)})`;
  if (refusal === 'denied') return `the login lacks a privilege (${causeOf(error, 200)})`;
  if (/^the server sent too/.test(message)) return tooLarge().message;
  if (/multiple commands into a prepared statement/.test(message))
    return 'there are several statements: write one SELECT';
  if (TELLING.test(code)) return `the server refused it (${causeOf(error, 300)})`;
  if (code === '') return causeOf(error, 200);
  return `the server refused it (${run.target.engine === 'postgres' ? 'SQLSTATE' : 'error'} ${code})`;
}
