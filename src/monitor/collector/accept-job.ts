import type { Row } from '../../checks/fault.ts';
import type { ServerLimit } from '../../checks/pgbouncer/server-limit.ts';
import { type KnownReading, READING_KINDS } from '../../runs/changes/facts.ts';
import type { QueryInstructions } from '../../runs/queries/query-run.ts';
import { unpackState } from '../../runs/queries/query-state.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import type { CollectedJob } from '../collected/hand-out.ts';
import type { CounterBefore } from '../counters.ts';
import { acceptOwnChecks, acceptPulse } from './accept-pulse.ts';
import { type Fields, fieldsIn, InvalidJob, isText, listIn } from './job-fields.ts';

// The service is believed where it can only spoil its own figures. What becomes part of a statement is checked here: a service that was
// taken over must not run statements of its own at the site.

const RUN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const QUERY = /^(?:-?[0-9]{1,19}|[0-9a-f]{32}|[0-9a-f]{64})$/i;

/** No connection is checked more often. */
const SHORTEST_SECONDS = 5;

/** The jobs of an answer. Throws {@link InvalidJob}. */
export function acceptJobs(answer: unknown): CollectedJob[] {
  return listIn(fieldsIn(answer)['jobs']).map(acceptJob);
}

/** The names of the connections that the service leaves to this collector; null = it does not say. */
export function acceptNames(answer: unknown): string[] | null {
  const { connections } = fieldsIn(answer);
  return Array.isArray(connections) ? connections.filter(isText) : null;
}

/** The names of the connections that somebody watches. */
export function acceptLooks(answer: unknown): string[] {
  const { looks } = fieldsIn(answer);
  return Array.isArray(looks) ? looks.filter(isText) : [];
}

/** The fields that the service takes, of those that were added to requests; null = it does not say. */
export function acceptTakes(answer: unknown): ReadonlySet<string> | null {
  const { takes } = fieldsIn(answer);
  return Array.isArray(takes) ? new Set(takes.filter(isText)) : null;
}

/** One job. Throws {@link InvalidJob}. */
export function acceptJob(value: unknown): CollectedJob {
  const { run, connection, engine: named, every, instructions, pulse } = fieldsIn(value);
  const engine = ENGINES.find((one) => one === named);
  if (!isText(run) || !RUN.test(run) || !isText(connection) || !engine) throw new InvalidJob('a run');
  const { thresholds, expectedStandbys, own, before, facts, queries, serversBehind, tries } =
    fieldsIn(instructions);
  return {
    run,
    connection,
    engine,
    every: typeof every === 'number' && every >= SHORTEST_SECONDS ? every : null,
    instructions: {
      thresholds: acceptThresholds(thresholds),
      expectedStandbys: typeof expectedStandbys === 'number' ? expectedStandbys : 0,
      own: acceptOwnChecks(own),
      before: listIn(before).map(acceptSample),
      facts: facts === null || facts === undefined ? null : acceptFacts(fieldsIn(facts)),
      ...(serversBehind !== undefined && { serversBehind: listIn(serversBehind).map(acceptServer) }),
      ...(queries !== undefined && { queries: acceptQueries(fieldsIn(queries)) }),
      ...(tries === 1 && { tries }),
    },
    pulse: acceptPulse(pulse),
  };
}

function acceptThresholds(value: unknown): Record<string, Record<string, number>> {
  return Object.fromEntries(
    Object.entries(fieldsIn(value)).map(([check, changed]) => {
      const numbers = Object.entries(fieldsIn(changed)).map(([name, one]) => {
        if (typeof one !== 'number' || !Number.isFinite(one)) throw new InvalidJob('a threshold');
        return [name, one] as const;
      });
      return [check, Object.fromEntries(numbers)];
    }),
  );
}

function acceptSample(value: unknown): CounterBefore {
  const { checkId, database, seconds, rows } = fieldsIn(value);
  if (!isText(checkId) || !isText(database) || typeof seconds !== 'number') throw new InvalidJob('a sample');
  return { checkId, database, seconds, rows: listIn(rows).map((row): Row => ({ ...fieldsIn(row) })) };
}

function acceptServer(value: unknown): ServerLimit {
  const { host, port, name, allowed } = fieldsIn(value);
  if (!isText(host) || !isText(name) || typeof port !== 'number' || typeof allowed !== 'number')
    throw new InvalidJob('a server');
  return { host, port, name, allowed };
}

function acceptFacts({ key, known, started }: Fields) {
  if (!isText(key)) throw new InvalidJob('facts');
  return {
    key,
    known: listIn(known).flatMap((one) => acceptKnown(fieldsIn(one))),
    started: isText(started) ? started : null,
  };
}

/** None if a newer service has a kind that this version does not read. */
function acceptKnown({ kind: named, database, digest, age }: Fields): KnownReading[] {
  const kind = READING_KINDS.find((one) => one === named);
  if (!isText(database) || !isText(digest) || typeof age !== 'number') throw new InvalidJob('a reading');
  return kind ? [{ kind, database, digest, age }] : [];
}

/** What is not as a run reported it is left out, as if this were the first run. */
function acceptQueries({ state, usual, recent, texts }: Fields): QueryInstructions {
  const isOfQueries = (text: unknown): text is string => {
    if (!isText(text)) return false;
    const { queries } = fieldsIn(parsed(text));
    return listIn(queries).every((row) => {
      const [query] = listIn(row);
      return isText(query) && QUERY.test(query);
    });
  };
  return {
    state: isText(state) && isState(state) ? state : null,
    usual: isOfQueries(usual) ? usual : null,
    recent: isOfQueries(recent) ? recent : null,
    texts: Array.isArray(texts) ? texts.filter(isText) : null,
  };
}

function isState(text: string): boolean {
  const state = unpackState(Buffer.from(text, 'base64'));
  if (!state) return false;
  const names = [...[...state.entries.keys()].map((entry) => entry.split('/')[0]), ...state.judged.keys()];
  return names.every((name) => isText(name) && QUERY.test(name));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
