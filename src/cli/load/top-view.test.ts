import { expect, test } from 'vitest';
import type { PulseReading } from '../../monitor/pulse/reading/pulse-reading.ts';
import { topJson, topLines, toTopView } from './top-view.ts';

const session = (pid: number, role: string, state: string, seconds: number) => ({
  pid,
  started: 5,
  database: 'shop',
  role,
  application: pid === 1 ? 'psql' : '',
  state,
  seconds,
});

const wait = (pid: number, blockers: number[], seconds: number) => ({
  pid,
  blockers,
  seconds,
  lock: 'transactionid',
  relation: pid === 3 ? 'public.orders' : null,
});

const READING: PulseReading = {
  started: 1_700_000_000,
  isStandby: false,
  isReplicating: null,
  connections: { used: 12, allowed: 97 },
  room: null,
  lockWaitTimeout: null,
  active: 5,
  idleInTransaction: 1,
  load: [
    {
      state: 'active',
      wait: 'Lock',
      event: 'transactionid',
      query: '-5482',
      role: 'shop',
      application: 'a very long name of an application',
      database: 'shop',
      count: 2,
      seconds: 44,
    },
    {
      state: 'active',
      wait: '',
      event: '',
      query: '',
      role: 'etl',
      application: '',
      database: 'shop',
      count: 1,
      seconds: 7_200,
    },
  ],
  transactions: { commits: 1_000, rollbacks: 5 },
  replicaLag: 0.25,
  deadlocks: null,
  oldestTransaction: 45,
  waits: [wait(2, [1], 44), wait(3, [2], 12)],
  shortWaits: 0,
  clientsWaiting: null,
  sessions: [
    session(1, 'bob', 'idle in transaction', 45),
    session(2, 'shop', 'active', 44),
    session(3, 'shop', 'active', 12),
  ],
};

const AT = new Date('2026-11-27T10:00:00Z');

test('shows the figures, who blocks whom, and what the sessions do', () => {
  const first = toTopView(null, READING, AT);
  expect(first.rates).toBeNull();
  const later = { ...READING, transactions: { commits: 1_200, rollbacks: 5 } };
  const view = toTopView(first, later, new Date(AT.getTime() + 2_000));
  expect(topLines('shop', view)).toEqual([
    'shop  10:00:02 UTC',
    'primary, 12 of 97 connections, 5 active, 1 idle in transaction, 100 commits/s, 0.0 rollbacks/s, oldest transaction 45 s, replica lag 0.3 s',
    '',
    'Blocking',
    '1 bob/psql on shop, idle in transaction for 45 s, blocks 2 sessions',
    '  2 shop on shop waits 44 s for a lock: transactionid',
    '    3 shop on shop waits 12 s for a lock: transactionid of public.orders',
    '',
    'count  oldest  state   wait                 database  role  application               query',
    '2      44 s    active  Lock: transactionid  shop      shop  a very long name of an …  -5482',
    '1      2 h     active  running              shop      etl',
    'and 3 others',
  ]);
  expect(topJson(view)).toMatchObject({
    at: '2026-11-27T10:00:02.000Z',
    commits_per_second: 100,
    blocking: [{ root: { role: 'bob' }, waits: [{ pid: 2 }, { pid: 3 }] }],
    load: [{ count: 2 }, { count: 1 }],
  });
});

test('a restart makes no rate, and a root that is not shown is said to be', () => {
  const restarted = { ...READING, transactions: { commits: 1, rollbacks: 0 }, waits: [wait(9, [], 3)] };
  const view = toTopView(toTopView(null, READING, AT), restarted, new Date(AT.getTime() + 2_000));
  expect(view.rates).toBeNull();
  expect(topLines('shop', view)).toContain('a session that the server does not show, blocks 1 session');
  expect(topLines('shop', { ...view, reading: { ...READING, waits: [], load: [] } })).toContain(
    'No session is active.',
  );
});

test('nothing that the server or a member wrote reaches the terminal as it is, and a long chain is cut', () => {
  const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31m\n\u202etxt';
  const chain = Array.from({ length: 200 }, (_, n) => ({
    ...wait(n + 2, [n + 1], 200 - n),
    lock: evil,
    relation: evil,
  }));
  const reading: PulseReading = {
    ...READING,
    waits: chain,
    sessions: [{ ...session(1, evil, evil, 1), database: evil, application: evil }],
    load: READING.load.map((group) => ({
      ...group,
      wait: evil,
      event: evil,
      role: evil,
      query: evil,
      database: evil,
    })),
  };
  const lines = topLines(evil, toTopView(null, reading, AT));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
  expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(lines).toContain('  and 185 others');
});
