import { expect, test } from 'vitest';
import { packState } from '../../runs/queries/query-state.ts';
import { acceptJobs } from './accept-job.ts';
import { InvalidJob } from './job-fields.ts';

const work = { calls: 1, seconds: 1, rows: 1, read: 1, hit: 1, temporary: 1 };
const stateOf = (entry: string, judged: string) =>
  packState({
    ...{ at: 1, part: 2, server: 's', reset: null, unreadParts: 0, lost: null },
    entries: new Map([[entry, work]]),
    judged: new Map([[judged, true]]),
  }).toString('base64');

const job = {
  run: '0199b2f4-6b5e-7c3a-9a41-2f5d0c9e7b11',
  connection: 'shop',
  engine: 'postgres',
  every: 300,
  pulse: {
    every: 10,
    thresholds: {
      blockedSeconds: { warning: 30, critical: 300 },
      connections: { warning: 0.8, critical: 0.95 },
      rules: [
        {
          id: 1,
          metric: 'blocked_seconds',
          operator: '>=',
          threshold: 5,
          clear_threshold: null,
          for_seconds: 0,
        },
      ],
    },
  },
  instructions: {
    own: [
      {
        ...{
          id: 'ORDERS_STUCK',
          title: 'Orders',
          engine: 'postgres',
          database: null,
          sql: 'select 1 as value',
        },
        ...{ unit: 'count', operator: '>=', warning: 1, critical: null, remediation: '', every: null },
        ...{ timeout: 5, tags: [] },
      },
    ],
    thresholds: { PG_LONG_XACT: { warning: 600 } },
    expectedStandbys: 1,
    before: [{ checkId: 'PG_DEADLOCKS', database: 'shop', seconds: 300, rows: [{ n: 1 }] }],
    facts: { key: 'AAAA', known: [{ kind: 'setting', database: '', digest: 'd', age: 1 }], started: null },
    queries: {
      state: stateOf('-42/10/5/1', '-42'),
      usual: '{"days":1,"isCut":false,"queries":[["-42","shop","bob",0.1,3]]}',
      recent: '{"seconds":60,"queries":[["0123456789abcdef0123456789abcdef","shop","bob",1,1,1,1,1,1]]}',
      texts: ['-42'],
    },
  },
};
const withInstructions = (more: object) => ({ ...job, instructions: { ...job.instructions, ...more } });
const withQueries = (more: object) => withInstructions({ queries: { ...job.instructions.queries, ...more } });
const queriesOf = (more: object) => acceptJobs({ jobs: [withQueries(more)] })[0]?.instructions.queries;

test('a job is accepted as it is', () => {
  expect(acceptJobs({ jobs: [job] })).toEqual([job]);
  expect(acceptJobs({ jobs: [] })).toEqual([]);
});

test('what a newer service adds is left out', () => {
  const facts = {
    ...job.instructions.facts,
    known: [{ kind: 'invented', database: '', digest: 'd', age: 1 }],
  };
  const newer = { ...withInstructions({ facts, invented: true }), invented: [] };
  expect(acceptJobs({ jobs: [newer], invented: 1 })).toEqual([
    withInstructions({ facts: { ...job.instructions.facts, known: [] } }),
  ]);
});

test('a rule or an own check of a newer service that is not known here costs no other, and no job', () => {
  const { rules } = job.pulse.thresholds;
  const [own] = job.instructions.own;
  const newer = {
    ...withInstructions({
      own: [{ ...own, unit: 'percent' }, { ...own, engine: 'oracle' }, { ...own, operator: '>' }, own],
    }),
    pulse: {
      ...job.pulse,
      thresholds: {
        ...job.pulse.thresholds,
        rules: [{ ...rules[0], metric: 'invented' }, { ...rules[0], operator: '<>' }, ...rules],
      },
    },
  };
  expect(acceptJobs({ jobs: [newer] })).toEqual([job]);
  for (const broken of [
    { ...own, unit: 1 },
    { ...own, operator: null },
  ])
    expect(() => acceptJobs({ jobs: [withInstructions({ own: [broken] })] })).toThrow(InvalidJob);
});

test('what would become part of a statement must have the form of a query, else it is left out', () => {
  const attack = '1) union select passwd from pg_shadow --';
  expect(queriesOf({ state: stateOf(`${attack}/10/5/1`, '-42') })?.state).toBe(null);
  expect(queriesOf({ state: stateOf('-42/10/5/1', attack) })?.state).toBe(null);
  expect(queriesOf({ state: 'AAAA' })?.state).toBe(null);
  const list = (query: unknown) =>
    JSON.stringify({ seconds: 1, days: 1, isCut: false, queries: [[query, '', '', 1, 1]] });
  expect(queriesOf({ recent: list(attack) })?.recent).toBe(null);
  expect(queriesOf({ usual: list(attack) })?.usual).toBe(null);
  expect(queriesOf({ usual: list(1) })?.usual).toBe(null);
  expect(queriesOf({ texts: 'all' })?.texts).toBe(null);
});

test('a message of another form is no work', () => {
  const others = [
    null,
    [],
    {},
    { jobs: {} },
    { jobs: [{ ...job, run: '../x' }] },
    { jobs: [{ ...job, engine: 'oracle' }] },
    { jobs: [{ ...job, connection: 1 }] },
    { jobs: [withInstructions({ thresholds: { PG_LONG_XACT: { warning: '1; drop table a' } } })] },
    { jobs: [withInstructions({ before: [{ checkId: 1 }] })] },
    { jobs: [withInstructions({ facts: {} })] },
    { jobs: [withQueries({ usual: '{' })] },
    { jobs: [{ ...job, pulse: { ...job.pulse, every: 0 } }] },
    { jobs: [{ ...job, pulse: { every: 10, thresholds: {} } }] },
    { jobs: [withInstructions({ own: [{ ...job.instructions.own[0], timeout: 3_600 }] })] },
  ];
  for (const other of others) expect(() => acceptJobs(other)).toThrow(InvalidJob);
});

test('a statement that this version refuses costs no other job: it is refused where it runs', () => {
  const own = [{ ...job.instructions.own[0], sql: 'delete from orders' }];
  expect(acceptJobs({ jobs: [withInstructions({ own })] })[0]?.instructions.own).toEqual(own);
});

test('a level that is never reached comes as null', () => {
  const { thresholds } = job.pulse;
  const pulse = { every: 10, thresholds: { ...thresholds, connections: { warning: null, critical: null } } };
  const [accepted] = acceptJobs({ jobs: [{ ...job, pulse }] });
  expect(accepted?.pulse?.thresholds.connections.warning).toBe(Number.POSITIVE_INFINITY);
  const { pulse: _, ...older } = job;
  expect(acceptJobs({ jobs: [older] })[0]?.pulse).toBe(null);
});
