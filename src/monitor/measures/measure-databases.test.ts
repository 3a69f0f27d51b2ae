import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Check } from '../../checks/check.ts';
import { toCheck } from '../../checks/own/own-check.ts';
import { ownCheck } from '../../checks/own/own-check-fixture.ts';
import type { CounterBefore, CounterSample } from '../counters.ts';
import { LIMITS } from '../limits.ts';
import { outcomeOf } from '../outcome.ts';
import { QueryReader } from '../queries/query-reader.ts';
import { ChangeReader } from '../read-changes.ts';
import { target } from '../run-fixture.ts';
import type { EngineParts } from '../session/engine-parts.ts';
import { reasonOfEnd } from '../session/lasting-session.ts';
import { WaitingLogins } from '../session/postgres/waiting-logins.ts';
import type { Session } from '../session/session.ts';
import { incompleteChecks } from './incomplete-checks.ts';
import type { Run } from './measure-checks.ts';
import { measureServer } from './measure-databases.ts';
import { Vitals } from './measure-vitals.ts';

const check: Check = {
  id: 'PG_TEST',
  title: 'Test',
  category: 'schema',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'database',
  sql: () => 'select 1',
  judge: (_, { database }) => ({
    passMessage: 'Fine.',
    measures: [],
    faults:
      database === 'd002'
        ? [{ severity: 'warning', object: 'x', metricLine: 'x is wrong.', remediation: 'Mend it.' }]
        : [],
  }),
};

/** Runs on a server with so many databases; its time is over when so many sessions have worked. */
async function runUntil(
  databases: readonly string[],
  sessions: number,
  before: CounterBefore[] = [],
  lockedDatabases: string[] = [],
) {
  const logins: string[] = [];
  const inLocked = toCheck(ownCheck({ database: 'd002' }));
  const over = new AbortController();
  const opened: string[] = [];
  const session = (database: string): Session => ({
    tls: null,
    async read() {
      over.signal.throwIfAborted();
      opened.push(database);
      if (opened.length >= sessions) over.abort(new DOMException('The time is over.', 'TimeoutError'));
      return [];
    },
    async close() {},
  });
  const engine = {
    checks: [check],
    vitals: { readings: [], vitals: [] },
    readFacts: async () => ({
      version: 180_000,
      databases: [...databases],
      lockedDatabases,
      provider: null,
      me: 'watcher',
    }),
    openSession: async (_: unknown, database: string) => {
      logins.push(database);
      return session(database);
    },
  } as unknown as EngineParts;
  const counters: CounterSample[] = [];
  const began = Date.now();
  const own = { ...target, database: databases[0] ?? '' };
  const run: Run = {
    target: own,
    engine,
    limits: LIMITS,
    signal: over.signal,
    note: undefined,
    silences: 0,
    server: null,
    leftOut: [],
    isStandby: false,
    meter: { bytes: 0, statements: 0, milliseconds: 0 },
    thresholds: {},
    expectedStandbys: 0,
    serversBehind: [],
    own: new Map(lockedDatabases.length > 0 ? [[inLocked, ownCheck({ database: 'd002' })]] : []),
    onlyOwn: false,
    before,
    began,
    dialler: {
      dial: async () => new PassThrough(),
      findServer: async ({ host }) => host,
      hostKey: () => null,
      close() {},
    },
    waiting: new WaitingLogins(),
    samples: new Map([check, inLocked].map((each) => [each, []])),
    counters,
    vitals: new Vitals({
      engine,
      before,
      began,
      counters,
      note: undefined,
      ended: () => reasonOfEnd(run) !== null,
    }),
    changes: new ChangeReader(own, null, () => false),
    queries: new QueryReader('postgres', { state: null, usual: null, recent: null, texts: null }),
    show: () => {},
    step: () => {},
  };
  const failure = await measureServer(run, {
    session: session(own.database),
    endpoint: { host: '127.0.0.1', port: 1 },
  });
  const samples = run.samples.get(check) ?? [];
  const next: CounterBefore[] = counters.map((each) => ({ ...each, seconds: 60 }));
  const incomplete = incompleteChecks([{ check, samples }]).findings[0];
  const ofOwn = run.samples.get(inLocked) ?? [];
  return { failure, opened, logins, outcome: outcomeOf(check, samples), ofOwn, incomplete, next };
}

const names = Array.from({ length: 400 }, (_, n) => `d${String(n + 1).padStart(3, '0')}`);

test('a run whose time is over keeps what it has, and names all that it did not reach', async () => {
  const { failure, outcome, incomplete } = await runUntil(names, 368);
  expect(failure).toBeNull();
  expect(outcome.unmeasured).toEqual(names.slice(368));
  expect(outcome.findings).toMatchObject([
    { status: 'warning', database: 'd002', object: 'x' },
    {
      status: 'error',
      metric_line: expect.stringMatching(/^Database d369: Not measured: the time of the run was over\. Nor/),
    },
  ]);
  expect(incomplete).toMatchObject({
    status: 'warning',
    metric_line: 'The time was too short for 1 check (PG_TEST) in 32 databases, such as d369.',
  });
  for (const name of names.slice(368)) expect(incomplete?.remediation).toContain(name);
});

test('the next run begins with what was not reached, so that each database has its turn', async () => {
  const first = await runUntil(names, 368);
  const second = await runUntil(names, 368, first.next);
  expect(second.opened.slice(0, 33)).toEqual(['d001', ...names.slice(368)]);
  expect(new Set([...first.opened, ...second.opened]).size).toBe(400);
  const third = await runUntil(names, 1_000, second.next);
  expect(third.outcome.unmeasured).toEqual([]);
  const fourth = await runUntil(names, 1_000, third.next);
  expect(fourth.opened).toEqual(names);
});

test('a database whose catalogue is locked gets no login, neither of a check nor of a member’s', async () => {
  const { logins, outcome, ofOwn } = await runUntil(['d001', 'd002', 'd003'], 100, [], ['d002']);
  expect(logins).toEqual(['d003']);
  expect(outcome.unmeasured).toEqual(['d002']);
  expect(ofOwn).toMatchObject([
    { failed: expect.stringMatching(/a session locks its catalogue/), status: 'error' },
  ]);
});
