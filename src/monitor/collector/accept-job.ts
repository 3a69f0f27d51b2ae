import type { Row } from '../../checks/fault.ts';
import type { ServerLimit } from '../../checks/pgbouncer/server-limit.ts';
import type { KnownReading } from '../../runs/changes/facts.ts';
import type { QueryInstructions } from '../../runs/queries/query-run.ts';
import { unpackState } from '../../runs/queries/query-state.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import type { CollectedJob } from '../collected/hand-out.ts';
import type { CounterBefore } from '../counters.ts';

// The service is believed where it can only spoil its own figures. What becomes part of a statement is checked here: a service that was
// taken over must not run statements of its own at the site.

/** A message of the service that is none. */
export class InvalidJob extends Error {}

const RUN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const QUERY = /^(?:-?[0-9]{1,19}|[0-9a-f]{32}|[0-9a-f]{64})$/i;

type Fields = Readonly<Record<string, unknown>>;

/** The jobs of an answer. Throws {@link InvalidJob}. */
export function acceptJobs(answer: unknown): CollectedJob[] {
  return listIn(fieldsIn(answer)['jobs']).map(acceptJob);
}

function acceptJob(value: unknown): CollectedJob {
  const { run, connection, engine: named, instructions } = fieldsIn(value);
  const engine = ENGINES.find((one) => one === named);
  if (!isText(run) || !RUN.test(run) || !isText(connection) || !engine) throw new InvalidJob('a run');
  const { thresholds, expectedStandbys, before, facts, queries, serversBehind } = fieldsIn(instructions);
  return {
    run,
    connection,
    engine,
    instructions: {
      thresholds: acceptThresholds(thresholds),
      expectedStandbys: typeof expectedStandbys === 'number' ? expectedStandbys : 0,
      before: listIn(before).map(acceptSample),
      facts: facts === null || facts === undefined ? null : acceptFacts(fieldsIn(facts)),
      ...(serversBehind !== undefined && { serversBehind: listIn(serversBehind).map(acceptServer) }),
      ...(queries !== undefined && { queries: acceptQueries(fieldsIn(queries)) }),
    },
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
    // They are only compared.
    known: listIn(known).map((one) => fieldsIn(one) as unknown as KnownReading),
    started: isText(started) ? started : null,
  };
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

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function fieldsIn(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new InvalidJob('an object is missing');
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new InvalidJob('a list is missing');
}
