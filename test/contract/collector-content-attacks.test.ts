import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readLog } from './activity-log.ts';
import {
  MINUTE,
  makeDeadlock,
  makeEpisode,
  makeLoad,
  makePast,
  startAttacked,
  thisMinute,
} from './collector-attack.ts';
import { quietResult, VERSION } from './collector-client.ts';

// What a hostile collector sends as results, pulses and looks: nothing else is stored than what an honest one may send.

const { site, post, addCollected, startRun, countChecks, countPulses, removeConnection } = startAttacked();

test('bodies that are huge, deep, malformed or of another form are refused, and store nothing', async () => {
  const { connectionId, run } = await startRun(site.own, 'bodies');
  const quiet = quietResult(run);
  const [outcome] = quiet.measured.outcomes as { findings: object[] }[];
  const withMeasured = (more: object) => ({ ...quiet, measured: { ...quiet.measured, ...more } });
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const raw: [string, Buffer, number, string][] = [
    ['a bomb', gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), 413, 'body_too_large'],
    ['huge', gzipSync(Buffer.from(`{"run":"${'x'.repeat(5_000_000)}"}`)), 413, 'body_too_large'],
    ['deep', gzipSync(deep), 400, 'invalid_parameter'],
    [
      'deep fields',
      gzipSync(`{"run":"${run}","measured":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_001)}`),
      400,
      'invalid_parameter',
    ],
    ['no JSON', gzipSync('{'), 400, 'bad_request'],
    ['no gzip', Buffer.from('{}'), 400, 'bad_request'],
    ['cut gzip', gzipSync(JSON.stringify(quiet)).subarray(0, 40), 400, 'bad_request'],
  ];
  for (const [name, body, status, code] of raw) {
    const reply = await post('result', site.own.signBytes('result', body));
    expect([name, reply.status, reply.body.error?.code]).toEqual([name, status, code]);
  }
  const forms: Record<string, object> = {
    'another field': { ...quiet, connection_id: 1 },
    'another time': withMeasured({ at: '2020-01-01T00:00:00Z' }),
    'no outcomes': withMeasured({ outcomes: undefined }),
    'no finding': withMeasured({ outcomes: [{ ...outcome, findings: [] }] }),
    'a title': withMeasured({
      outcomes: [{ ...outcome, findings: [{ ...outcome?.findings[0], title: 'x' }] }],
    }),
    'a status': withMeasured({
      outcomes: [{ ...outcome, findings: [{ ...outcome?.findings[0], status: 'x' }] }],
    }),
    'too many outcomes': withMeasured({ outcomes: Array.from({ length: 501 }, () => outcome) }),
    "a member's change": withMeasured({
      readings: [
        {
          kind: 'setting',
          database: '',
          digest: 'a',
          stored: { basis: '', facts: [['threshold', 'a', 'b']] },
        },
      ],
    }),
    'a nested row': withMeasured({
      samples: [{ checkId: 'PG_DEADLOCKS', database: '', after: 0, rows: [{ a: {} }] }],
    }),
    'a query': withMeasured({
      queries: { state: '', grown: [], calls: 0, seconds: 0, texts: [["1' or '1", 'x']] },
    }),
    'a number that no server has': withMeasured({ cost: { milliseconds: 1e300, statements: 1, bytes: 1 } }),
    'a prototype': JSON.parse(`{"run":"${run}","measured":{},"__proto__":{"a":1}}`),
  };
  for (const [name, form] of Object.entries(forms)) {
    const reply = await site.own.send('result', form);
    expect([name, reply.status, reply.body.error?.code]).toEqual([name, 400, 'invalid_parameter']);
  }
  expect(await countChecks(connectionId)).toBe(0);
  expect((await site.own.send('result', quiet)).status).toBe(200);
  await removeConnection(connectionId);
});

test('what a collector says of a check is not believed, and its texts are made safe', async () => {
  const { connectionId, run } = await startRun(site.own, 'lies');
  const finding = {
    status: 'critical',
    severity: 'critical',
    metric_line: `a\u0000\u001b[31m\u202e${'x'.repeat(1_900)}`,
    remediation: 'drop table a;\u0007',
    database: 'a\u0000b',
    object: 'o',
  };
  const outcomes = ['PG_TEMP_FILES', 'MY_TMP_DISK', 'INVENTED', 'CONN_UNREACHABLE'].map((id) => ({
    check: { id },
    findings: [finding],
    measured: true,
    unmeasured: [],
    near: [],
  }));
  const quiet = quietResult(run);
  const measures = [
    {
      checkId: 'INVENTED',
      database: '',
      metric: 'a_count',
      object: null,
      value: 1,
      operator: null,
      warning: null,
      critical: null,
    },
  ];
  const reply = await site.own.send('result', {
    ...quiet,
    measured: { ...quiet.measured, outcomes, measures },
  });
  expect(reply.status).toBe(200);
  const { rows } = await site.store.query('select findings from health_check where connection_id = $1', [
    connectionId,
  ]);
  const findings: Record<string, string>[] = rows[0].findings;
  expect(findings.map(({ check_id }) => check_id).toSorted()).toEqual(['CONN_UNREACHABLE', 'PG_TEMP_FILES']);
  const temporary = findings.find(({ check_id }) => check_id === 'PG_TEMP_FILES');
  expect(temporary?.['title']).not.toBe(undefined);
  expect(temporary?.['severity']).not.toBe('critical'); // the check is at most a warning
  expect(temporary?.['metric_line']?.length).toBeLessThanOrEqual(500);
  expect(JSON.stringify(findings)).not.toMatch(/\\u0000|\\u001b|\\u0007|\u202e|drop table/);
  const { rows: series } = await site.store.query('select from measure_series where connection_id = $1', [
    connectionId,
  ]);
  expect(series).toEqual([]);
  const words = JSON.stringify(await readLog(site.account.key));
  expect(words).not.toContain('xxxxxxxx');
  await removeConnection(connectionId);
});

test('what no pulse can have seen is not stored', async () => {
  const id = await addCollected('own', 'impossible');
  const now = Date.now();
  const [{ episode }] = [makeEpisode('impossible')];
  const [tree] = episode.trees;
  const wait = { ...tree?.waits[0], session: tree?.root };
  const impossible = [
    { seen_at: 0, began_at: 0 },
    { seen_at: now - 26 * 60 * MINUTE, began_at: 0 },
    { seen_at: now + 10 * MINUTE },
    { seen_at: 1e14 },
    { began_at: now + 1_000, seen_at: now },
    { ended_at: 1e14 },
    { ended_at: 0 },
    { trees: [{ ...tree, at: '2099-99-99T99:99:99.999Z' }] },
    { trees: [{ ...tree, waits: Array.from({ length: 60 }, () => ({ ...wait, lock: 'x'.repeat(150) })) }] },
  ].map((given) => makeEpisode('impossible', given));
  const events = [
    ...impossible,
    ...[0, 1e14, now - 26 * 60 * MINUTE].map((at) => makeDeadlock('impossible', at)),
    ...[0, 1e14, thisMinute() + 1, thisMinute() - 26 * 60 * MINUTE].map((at) => makeLoad('impossible', at)),
    { connection: 'impossible', ask: { holding: ['invented', 'rule_1'], cleared: [] } },
  ];
  expect((await site.own.send('pulse', { events })).status).toBe(200);
  expect(await countPulses(id)).toEqual([0, 0, 0]);
  for (const at of [0, now + MINUTE, 1e14, now - 26 * 60 * MINUTE])
    expect((await site.own.send('past', makePast('impossible', at))).body).toEqual({ stored: 0 });
  expect(await countChecks(id)).toBe(0);
  await removeConnection(id);
});

test('pulses, looks and results of the past of another form are refused, and no error is ours', async () => {
  const id = await addCollected('own', 'forms');
  const event = makeEpisode('forms');
  const look = (answer: object) => ({ connection: 'forms', answer });
  const reading = {
    started: 0,
    isStandby: false,
    isReplicating: null,
    connections: { used: 1, allowed: 2 },
    room: null,
    lockWaitTimeout: null,
    active: 1,
    idleInTransaction: 0,
    load: [],
    transactions: null,
    waits: [],
    replicaLag: null,
    deadlocks: null,
    oldestTransaction: null,
    shortWaits: 0,
    sessions: [],
    clientsWaiting: null,
  };
  const waits = Array.from({ length: 201 }, (_, pid) => ({
    pid,
    blockers: [],
    seconds: 1,
    lock: '',
    relation: null,
  }));
  const { results } = makePast('forms', Date.now() - MINUTE);
  const [past] = results;
  const withAfter = (after: number) => ({
    ...past,
    measured: {
      ...past?.measured,
      samples: [{ checkId: 'PG_DEADLOCKS', database: '', after, rows: [] }],
    },
  });
  const forms: [string, object][] = [
    ['pulse', { events: Array.from({ length: 201 }, () => event) }],
    ['pulse', { events: [{ ...event, connection: '' }] }],
    ['pulse', { events: [{ ...event, connection: 'a\u0000' }] }],
    ['pulse', { events: [{ ...event, account: site.stranger.account }] }],
    ['pulse', { events: [{ ...event, ...makeLoad('forms', thisMinute()) }] }],
    ['pulse', { events: [makeEpisode('forms', { seen_at: 1e300 })] }],
    ['pulse', { events: [makeEpisode('forms', { lost_seconds: -1 })] }],
    [
      'pulse',
      { events: [makeEpisode('forms', { trees: [{ at: 'now', root: null, waits: [], sessions: 0 }] })] },
    ],
    ['pulse', { events: [makeLoad('forms', thisMinute(), 'x'.repeat(65))] }],
    ['pulse', { events: [makeLoad('forms', 0.5)] }],
    ['pulse', { events: [makeDeadlock('forms', -1)] }],
    ['look', { ...look({ reading }), connection: 'a\u0000' }],
    ['look', look({ reading: { ...reading, waits } })],
    ['look', look({ reading: { ...reading, started: 1e300 } })],
    ['look', look({ reading, failure: { kind: 'unread', reason: '' } })],
    ['look', look({ failure: { kind: 'invented', reason: '' } })],
    ['past', { results: [] }],
    ['past', { results: Array.from({ length: 51 }, () => past) }],
    ['past', { results: [{ ...past, connection: 'a\u0000' }] }],
    ['past', { results: [{ ...past, at: 1e300 }] }],
    ['past', { results: [withAfter(1e300)] }],
    ['work', { version: VERSION, free: 1, running: [], looking: ['a\u0000'] }],
  ];
  for (const [n, [action, form]] of forms.entries()) {
    const { status, body } = await site.own.send(action, form);
    expect([n, action, status, body.error?.code]).toEqual([n, action, 400, 'invalid_parameter']);
  }
  const deep = `{"events":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const raw: [string, Buffer, number][] = [
    ['pulse', Buffer.from('{"events":[{"connection":"forms","load":{"at":NaN}}]}'), 400],
    [
      'pulse',
      Buffer.from(JSON.stringify({ events: [makeLoad('forms', 0)] }).replace('"at":0', '"at":1e999')),
      400,
    ],
    ['pulse', Buffer.from(deep), 400],
    ['pulse', Buffer.alloc(5 * 1024 * 1024, ' '), 413],
    ['past', Buffer.alloc(5 * 1024 * 1024, ' '), 413],
    ['look', Buffer.alloc(600 * 1024, ' '), 413],
  ];
  for (const [action, body, status] of raw)
    expect([action, (await post(action, site.own.signBytes(action, gzipSync(body)))).status]).toEqual([
      action,
      status,
    ]);
  // A name that is no text in UTF-8 is of no connection.
  expect((await site.own.send('pulse', { events: [{ ...event, connection: '\ud800' }] })).status).toBe(200);
  expect((await site.own.send('look', look({ reading }))).body).toEqual({ watched: false });
  expect([await countPulses(id), await countChecks(id)]).toEqual([[0, 0, 0], 0]);
  expect(site.service.output()).not.toContain('a request of a collector failed');
  expect(site.service.output()).not.toContain('strict mode'); // what is no line of JSON breaks readers of the log
  await removeConnection(id);
});
