import { expect, test } from 'vitest';
import { MalformedPulse, parseReading } from './pulse-reading.ts';

const POSTGRES = {
  started: 1_700_000_000.5,
  standby: false,
  replicating: null,
  used: 3,
  allowed: 97,
  room: null,
  active: 1,
  idle_in_transaction: 1,
  load: '[{"state": "active", "wait": "IO", "event": "DataFileRead", "query": "-42", "role": "bob", "application": "psql", "database": "shop", "count": 2, "seconds": 1.5}]',
  commits: 100,
  rollbacks: 3,
  replica_lag: 0.25,
  oldest_transaction: 12.5,
  waits: '[{"pid": 2, "blockers": [1], "seconds": 3.5, "lock": "transactionid", "relation": null}]',
  short_waits: 0,
  sessions:
    '[{"pid": 1, "started": 5, "database": "shop", "role": "bob", "application": "psql", "state": "idle in transaction", "seconds": 9}]',
};

const MYSQL = {
  clock: 1_700_000_100,
  standby: 1,
  figures: 'uptime=100,threads_connected=7,slave_running=ON,com_commit=12,com_rollback=0,innodb_deadlocks=4',
  replicating: null,
  allowed: 151,
  lock_wait_timeout: 50,
  room: '4',
  active: 1,
  idle_in_transaction: 0,
  load: null,
  commits: null,
  rollbacks: null,
  replica_lag: null,
  oldest_transaction: null,
  waits:
    '[{"pid": 2, "blocker": 1, "seconds": 3, "lock": "row", "relation": null}, {"pid": 2, "blocker": 3, "seconds": 4, "lock": "row", "relation": null}, {"pid": 5, "blocker": null, "seconds": 1, "lock": "metadata", "relation": "shop.orders"}]',
  short_waits: 2,
  sessions: null,
};

test('reads the answer of PostgreSQL', () => {
  expect(parseReading([POSTGRES])).toMatchObject({
    started: 1_700_000_000.5,
    connections: { used: 3, allowed: 97 },
    load: [{ state: 'active', wait: 'IO', query: '-42', count: 2, seconds: 1.5 }],
    transactions: { commits: 100, rollbacks: 3 },
    replicaLag: 0.25,
    waits: [{ pid: 2, blockers: [1], seconds: 3.5, relation: null }],
    sessions: [{ pid: 1, role: 'bob', state: 'idle in transaction' }],
  });
});

test('reads the answer of MySQL, where a wait has a row for each blocker', () => {
  expect(parseReading([MYSQL])).toMatchObject({
    started: 1_700_000_000,
    isStandby: true,
    isReplicating: true,
    connections: { used: 7, allowed: 151 },
    room: 4,
    lockWaitTimeout: 50,
    load: [],
    transactions: { commits: 12, rollbacks: 0 },
    deadlocks: 4,
    replicaLag: null,
    waits: [
      { pid: 2, blockers: [3, 1].toSorted(), seconds: 4 },
      { pid: 5, blockers: [], relation: 'shop.orders' },
    ],
    shortWaits: 2,
  });
});

test.each([
  [[]],
  [[POSTGRES, POSTGRES]],
  [[{ ...POSTGRES, used: 'many' }]],
  [[{ ...POSTGRES, used: null }]],
  [[{ ...POSTGRES, started: Number.NaN }]],
  [[{ ...POSTGRES, allowed: 1e300 }]],
  [[{ ...POSTGRES, waits: '{' }]],
  [[{ ...POSTGRES, waits: '{}' }]],
  [[{ ...POSTGRES, waits: '[1]' }]],
  [[{ ...POSTGRES, waits: '[{"pid": {"toString": 1}}]' }]],
  [[{ ...POSTGRES, waits: JSON.stringify(Array(2_000).fill({})) }]],
  [[{ ...POSTGRES, sessions: '[{"pid": 1, "started": 5, "database": []}]' }]],
  [[{ ...POSTGRES, load: '[{"state": "active"}]' }]],
  [[{ ...POSTGRES, load: POSTGRES.load.replace('"count": 2', '"count": "many"') }]],
  [[{ ...POSTGRES, load: JSON.stringify(Array(2_000).fill({})) }]],
  [[{ ...POSTGRES, load: undefined }]],
  [[{ ...POSTGRES, commits: {} }]],
  [[{ ...POSTGRES, replica_lag: 'late' }]],
  [[{ ...MYSQL, figures: 'uptime=x' }]],
  [[{ ...MYSQL, figures: '' }]],
])('refuses what the statement does not ask for: %j', (rows) => {
  expect(() => parseReading(rows)).toThrow(MalformedPulse);
});

test('does not know how long a session has been there that set its own clock', () => {
  const reading = parseReading([
    {
      ...POSTGRES,
      waits: POSTGRES.waits.replace('3.5', '1.79e9'),
      load: POSTGRES.load.replace('1.5', '18446744073709551.615'),
    },
  ]);
  expect([reading.waits[0]?.seconds, reading.load[0]?.seconds]).toEqual([0, 0]);
});

test('limits what it says of a group of sessions', () => {
  const load = JSON.stringify([
    {
      ...JSON.parse(POSTGRES.load)[0],
      state: 'stolen',
      count: -1,
      role: `bob\u001b[31m${'x'.repeat(500)}`,
    },
    { ...JSON.parse(POSTGRES.load)[0], count: 1e15, database: '世'.repeat(64) },
  ]);
  const [first, second] = parseReading([{ ...POSTGRES, load }]).load;
  expect(first).toMatchObject({ state: 'idle in transaction', count: 0 });
  expect(first?.role).toHaveLength(64);
  expect(first?.role).not.toMatch(/\p{Cc}/u);
  expect(second?.count).toBe(1e6);
  expect(second?.database).toBe('世'.repeat(21));
});

test('cleans names, which people see', () => {
  const sessions = JSON.parse(POSTGRES.sessions);
  const [session] = parseReading([
    {
      ...POSTGRES,
      sessions: JSON.stringify([{ ...sessions[0], role: `bob\n\u001b[31m${'x'.repeat(500)}` }]),
    },
  ]).sessions;
  expect(session?.role).toHaveLength(200);
  expect(session?.role).not.toMatch(/\p{Cc}/u);
});
