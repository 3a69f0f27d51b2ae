import { cheapestFirst } from '../../checks/cheapest-first.ts';
import type { Check } from '../../checks/check.ts';
import type { Endpoint } from '../../platform/network/address.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import { OwnWords } from '../../platform/text/own-words.ts';
import { cleanObject } from '../outcome.ts';
import { measureOwnChecks } from '../own-checks/measure-own-checks.ts';
import { countChecks } from '../progress.ts';
import { type ConnectFailure, connectFailure, isTimeout } from '../session/failures/connect-failure.ts';
import { explainUnreadFacts } from '../session/failures/unread-facts.ts';
import { lastingSession, reasonOfEnd, stopWhereEnded } from '../session/lasting-session.ts';
import { openDatabase, type Reached } from '../session/reach.ts';
import { requireUnlocked } from '../session/require-unlocked.ts';
import type { Session } from '../session/session.ts';
import { failedSample, RunEnded } from './failed-sample.ts';
import { measureEach, type Place, type Run } from './measure-checks.ts';

/** After this share of the run's time, heavy checks of further databases wait until the cheap ones are done. */
const LATE = 0.25;

/** The counters' name for the databases that a run did not reach, in their order. The next run begins with them. */
const UNREACHED = 'unreached_databases';

/**
 * Measures the server in the session's database, then its databases one at a time; closes the session. Returns a
 * failure if the server accepted the login but not the queries for its facts: it counts as unreachable, or as one that refuses the
 * login if that lacks a privilege. Once they are read, it does not, whatever happens.
 */
export async function measureServer(
  run: Run,
  { session: first, endpoint }: Reached,
): Promise<ConnectFailure | null> {
  const { database } = run.target;
  const { checks, readFacts } = run.engine;
  const session = lastingSession(run, first, endpoint, database);
  const began = performance.now();
  try {
    const again = (error: unknown) => {
      if (first.isLost?.() !== true) throw error;
      return readFacts(session); // opens it again
    };
    const facts = await readFacts(session)
      .catch(again)
      .catch((error: unknown) =>
        explainUnreadFacts(error, session, { target: run.target, answerMs: run.limits.answerMs }),
      );
    if (!('databases' in facts)) return facts;
    const { databases, leftOut = [], ...place } = facts;
    run.leftOut = leftOut.map((name) => cleanObject(name));
    run.server = { version: place.version, tls: session.tls, provider: place.provider };
    run.isStandby = place.isStandby === true;
    if (run.onlyOwn) {
      await session.close();
      await measureOwnChecks(run, endpoint, place);
      return null;
    }
    const ofServer = cheapestFirst(checks.filter(({ scope }) => scope === 'server'));
    const ofDatabase = cheapestFirst(checks.filter(({ scope }) => scope === 'database'));
    const counts = { ofServer: ofServer.length, ofDatabase: ofDatabase.length };
    run.step = countChecks(databases, counts, run.show);
    const own = { ...place, database };
    await measureEach(run, session, ofServer, own);
    if (databases[0] === database) await measureEach(run, session, ofDatabase, own);
    // Last, so that a server too slow for them still has its checks measured.
    await run.vitals.read(session, 'server', own);
    if (databases[0] === database) await run.vitals.read(session, 'database', own);
    await run.changes.readServer(session, place, endpoint);
    if (databases[0] === database) await run.changes.readDatabase(session, database);
    await session.close();
    const others = databases
      .filter((each) => each !== database)
      .map((each) => ({ ...place, database: each }));
    await measureOthers(run, endpoint, { ofDatabase, began }, unreachedFirst(run, others));
    await measureOwnChecks(run, endpoint, place);
    return null;
  } finally {
    await session.close();
  }
}

/** Measures the databases besides the session's own. Remembers those that it did not reach before the run's end. */
async function measureOthers(
  run: Run,
  endpoint: Endpoint,
  { ofDatabase, began }: { ofDatabase: readonly Check[]; began: number },
  places: readonly Place[],
): Promise<void> {
  const heavy = ofDatabase.filter(({ cost }) => cost === 2);
  const light = ofDatabase.filter((check) => !heavy.includes(check));
  const late: Place[] = [];
  for (const place of places) {
    const isLate = performance.now() - began > run.limits.runMs * LATE;
    if (isLate) late.push(place);
    await measureDatabase(run, endpoint, isLate ? light : ofDatabase, place, async (opened) => {
      await run.vitals.read(opened, 'database', place);
      await run.changes.readDatabase(opened, place.database);
    });
  }
  for (const place of late) await measureDatabase(run, endpoint, heavy, place);
  const samples = ofDatabase.flatMap((check) => run.samples.get(check) ?? []);
  const unreached = samples.filter((sample) => 'failed' in sample && sample.unreached === true);
  const names = new Set(unreached.map(({ database }) => nameOfUnreached(database)));
  const rows = [...names].map((database) => ({ database }));
  const wasEmpty = namesOfUnreached(run).length === 0;
  if (rows.length === 0 && wasEmpty) return;
  run.counters.push({ checkId: UNREACHED, database: '', after: (Date.now() - run.began) / 1_000, rows });
}

/** The databases that the previous run did not reach come first: so each has its turn. */
function unreachedFirst(run: Run, places: readonly Place[]): Place[] {
  const names = namesOfUnreached(run);
  const isUnreached = ({ database }: Place) => names.includes(nameOfUnreached(database));
  return [...places.filter(isUnreached), ...places.filter((place) => !isUnreached(place))];
}

function namesOfUnreached({ before }: Run): string[] {
  const rows = before.find(({ checkId }) => checkId === UNREACHED)?.rows ?? [];
  return rows.map(({ database }) => String(database));
}

/** As the store keeps it. */
function nameOfUnreached(database: string): string {
  return cleanText(database, 200);
}

/**
 * Counts a database that lets nobody in as a silence of the server, unless the server answers elsewhere: a lock on the catalogue
 * of some databases must not keep the others from being measured.
 */
async function noteSilence(run: Run, endpoint: Endpoint): Promise<void> {
  run.silences++;
  if (!reasonOfEnd(run) || run.signal.aborted) return;
  try {
    const session = await openDatabase(run, endpoint, run.target.database);
    await session.close();
    run.silences = 0;
  } catch {} // it is the server that is silent
}

async function measureDatabase(
  run: Run,
  endpoint: Endpoint,
  checks: readonly Check[],
  place: Place,
  afterwards?: (session: Session) => Promise<void>,
): Promise<void> {
  try {
    stopWhereEnded(run);
    const { database } = place;
    if (database.includes('\ufffd'))
      throw new OwnWords('its name is not UTF-8, so no session to it can be opened; rename it');
    requireUnlocked(place, database);
    const session = lastingSession(run, await openDatabase(run, endpoint, database), endpoint, database);
    try {
      await measureEach(run, session, checks, place);
      await afterwards?.(session);
    } finally {
      await session.close();
    }
  } catch (error) {
    const end = run.signal.aborted || error instanceof RunEnded ? reasonOfEnd(run) : null;
    if (!end && isTimeout(error)) await noteSilence(run, endpoint);
    const reason = end ?? new OwnWords(connectFailure(error, run.limits.connectMs, run.target).reason);
    for (const check of checks) run.samples.get(check)?.push(failedSample(check, place, reason));
  }
}
