import { describe, expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { type SeenJudgement, seen } from '../../../test/support/seen-judgement.ts';
import type { Check } from '../check.ts';
import type { Row } from '../fault.ts';
import { type JudgementInput, judgementOf } from '../judgement-of.ts';
import { replicaLag } from './replica-lag.ts';
import { replicaStopped } from './replica-stopped.ts';
import { replicaWritable } from './replica-writable.ts';
import { skipErrors } from './skip-errors.ts';

const [MYSQL_80, MYSQL_84, MARIADB] = [80_021, 80_404, 101_119];

const judge = (check: Check, rows: Row[], facts: Partial<JudgementInput> = {}): SeenJudgement => {
  const now = new Date('2026-11-21');
  const judgement = seen(judgementOf(check, rows, { version: MARIADB, database: '', now, ...facts }));
  expectMeasures(check, judgement);
  return judgement;
};

/** As SHOW gives them: all values are text. */
const shown = (figures: Record<string, string | number>): Row[] =>
  Object.entries(figures).map(([name, value]) => ({ Variable_name: name, Value: String(value) }));

const plain = {
  mysql80: shown({ read_only: 'ON', slave_net_timeout: 60, slave_parallel_workers: 0 }),
  mysql84: shown({ read_only: 'ON', replica_net_timeout: 60, replica_parallel_workers: 4 }),
  mariadb: shown({ read_only: 'ON', slave_net_timeout: 60, slave_parallel_threads: 0 }),
};
/** What the settings of such a server are. */
const settingsOf = (version: number): Row[] =>
  version === MARIADB ? plain.mariadb : version === MYSQL_84 ? plain.mysql84 : plain.mysql80;

/** A row of SHOW REPLICA STATUS under the names of that version, of what the checks may look at. */
function status(version: number, name: string, given: Row = {}): Row {
  const old = version !== MYSQL_84;
  const row: Row = { running: 'Yes', applying: 'Yes', behind: 0, ...given };
  return {
    [version === MARIADB ? 'Connection_name' : 'Channel_Name']: name,
    [old ? 'Slave_IO_Running' : 'Replica_IO_Running']: row['running'],
    [old ? 'Slave_SQL_Running' : 'Replica_SQL_Running']: row['applying'],
    [old ? 'Seconds_Behind_Master' : 'Seconds_Behind_Source']: row['behind'],
    [version === MARIADB ? 'Using_Gtid' : 'Auto_Position']: row['gtid'] ?? (version === MARIADB ? 'No' : 0),
    Last_IO_Errno: row['io'] ?? 0,
    Last_IO_Error: 'a value of a row',
    Last_SQL_Errno: row['error'] ?? 0,
    Last_SQL_Error: 'a value of a row',
    SQL_Delay: row['delay'] ?? 0,
    SQL_Remaining_Delay: row['remaining'] ?? null,
  };
}

describe.each([
  [MYSQL_80, 'show slave status', 'START SLAVE', ` FOR CHANNEL 'a''b'`, 'REPLICATION CLIENT ON *.*'],
  [MYSQL_84, 'show replica status', 'START REPLICA', ` FOR CHANNEL 'a''b'`, 'REPLICATION CLIENT ON *.*'],
  [MARIADB, 'show all slaves status', 'START REPLICA', ` 'a''b'`, 'SLAVE MONITOR ON *.*'],
] as const)('version %i', (version, statement, start, suffix, privilege) => {
  const of = (...rows: Row[]) => [...settingsOf(version), ...rows];

  test('uses the statements of its version', () => {
    for (const check of [replicaStopped, replicaLag, replicaWritable]) {
      expect([check.sql(version)].flat().at(-1)).toBe(statement);
      expect(check.privilege?.(version)).toBe(privilege);
    }
  });

  test('a server without a source, and one with named and unnamed sources', () => {
    for (const check of [replicaStopped, replicaLag, replicaWritable]) {
      expect(judge(check, of(), { version })).toMatchObject({
        passMessage: 'This server is not a replica.',
        faults: [],
      });
      expect(() => judge(check, [], { version }), check.id).toThrow(TypeError);
    }
    const stopped = of(status(version, '', { running: 'No' }), status(version, "a'b", { running: 'No' }));
    expect(judge(replicaStopped, stopped, { version }).faults).toMatchObject([
      { object: null, remediation: `${start};` },
      { object: "`a'b`", remediation: `${start}${suffix};` },
    ]);
    const off = shown({ read_only: 'OFF' });
    const running = [...off, status(version, '', { running: 'No' }), status(version, "a'b")];
    expect(judge(replicaWritable, running, { version }).faults).toMatchObject([
      { severity: 'warning', object: null },
    ]);
    // It may have been promoted.
    const promoted = [...off, status(version, '', { running: 'No', applying: 'No' })];
    expect(judge(replicaWritable, promoted, { version }).faults).toEqual([]);
    expect(judge(replicaStopped, promoted, { version }).faults).toMatchObject([
      { object: null, remediation: expect.stringMatching(/^SHOW .*; SELECT @@read_only; -- find out first/) },
    ]);
    const ofIts = [...settingsOf(version), { own_replicas: 2 }, status(version, '', { running: 'No' })];
    expect(judge(replicaStopped, ofIts, { version }).faults[0]?.metricLine).toContain(
      'has 2 replicas of its own',
    );
  });

  test.each([
    ['group_replication_group_name', 'a-b'],
    ['wsrep_cluster_address', 'gcomm://10.0.0.2,10.0.0.3'],
  ])(
    'a member of a cluster, by its %s, gets no bare statement: applications may write to it',
    (name, value) => {
      const member = (read_only: string, set: string) => [
        ...settingsOf(version).filter(({ Variable_name }) => Variable_name !== 'read_only'),
        ...shown({ read_only, [name]: set }),
      ];
      const stopped = [...member('ON', value), status(version, '', { running: 'No', applying: 'No' })];
      const [fault] = judge(replicaStopped, stopped, { version }).faults;
      expect(fault?.metricLine).toContain('this server is a member of a cluster. If');
      expect(fault?.remediation).toMatch(
        /^SHOW .*; SELECT @@read_only; -- find out first .* the cluster has its data/,
      );
      const writable = [...member('OFF', value), status(version, '')];
      expect(judge(replicaWritable, writable, { version }).faults[0]?.remediation).toMatch(
        /^SHOW PROCESSLIST; -- this server is a member of a cluster: find out whether .* If not, run SET /,
      );
      const [alone] = judge(replicaWritable, [...member('OFF', ''), status(version, '')], { version }).faults;
      expect(alone?.remediation).toMatch(/^SET /);
      const [started] = judge(replicaStopped, [...member('ON', ''), stopped.at(-1) ?? {}], {
        version,
      }).faults;
      expect(started?.remediation).toBe(`${start};`);
    },
  );

  test.each([
    [{}, []],
    [{ running: 'No' }, ['the IO thread is stopped']],
    [
      { running: 'No', io: 13_114 },
      ['error 13114), so nothing new arrives; usually the log is purged: rebuild'],
    ],
    [{ running: 'No', io: 1236 }, ['rebuild the replica']],
    [{ running: 'No', io: 13_117 }, ['the same server_id']],
    [{ running: 'No', io: 13_120 }, ['the login lacks REPLICATION SLAVE']],
    [{ running: 'No', io: 2003 }, ['error 2003: the network or the server']],
    [{ running: 'Connecting', io: 2061 }, ['error 2061: TLS failed']],
    [{ running: 'No', io: 9999 }, ['stopped on error 9999']],
    [{ applying: 'No', error: 13_121 }, ["the relay log can't be read (error 13121)"]],
    [{ running: 'Connecting', io: 1045 }, ["can't reach the source (error 1045: the login is refused)"]],
    [{ running: 'Preparing' }, ["can't reach the source, so"]],
    [{ applying: 'No' }, ['the SQL thread is stopped']],
    [{ applying: 'No', error: 1032 }, ['stopped on error 1032']],
    [{ running: 'No', applying: 'No' }, ['the IO and the SQL thread']],
  ])('threads %j: %j', (given, words) => {
    const { faults } = judge(replicaStopped, of(status(version, '', given)), { version });
    expect(faults.map(({ severity }) => severity)).toEqual(words.map(() => 'critical'));
    for (const word of words) expect(faults[0]?.metricLine).toContain(word);
    expect(JSON.stringify(faults)).not.toContain('a value of a row');
  });

  test.each<[Row, string | undefined, number]>([
    [{ behind: 26 }, undefined, 0],
    [{ behind: 27 }, undefined, 1],
    [{ behind: 29 }, undefined, 1],
    [{ behind: 30 }, 'warning', 0],
    [{ behind: 299 }, 'warning', 0],
    [{ behind: 300 }, 'critical', 0],
    [{ behind: 3629, delay: 3600 }, undefined, 1],
    [{ behind: 3630, delay: 3600 }, 'warning', 0],
    [{ behind: 9000, delay: 3600, remaining: 5 }, undefined, 0],
  ])('lag %j: %s', (given, severity, near) => {
    const judgement = judge(replicaLag, of(status(version, '', given)), { version });
    expect(judgement.faults.map((fault) => fault.severity)).toEqual(severity ? [severity] : []);
    expect(judgement.near).toHaveLength(near);
    expect(judgement.skipped).toBeUndefined();
  });

  test('an unknown lag is never "ok", and hides no other', () => {
    const unknown = status(version, 'a', { running: 'No', behind: null });
    expect(judge(replicaLag, of(unknown, status(version, 'b')), { version }).skipped).toBeDefined();
    const judgement = judge(replicaLag, of(unknown, status(version, 'b', { behind: 60 })), { version });
    expect(judgement).toMatchObject({ faults: [{ object: '`b`' }], truncated: true });
    expect(judgement.skipped).toBeUndefined();
  });
});

test('a thread that gave up is started after the fix, one that still tries is not', () => {
  const remedy = (given: Row) =>
    judge(replicaStopped, [...plain.mysql84, status(MYSQL_84, "a'b", given)], { version: MYSQL_84 }).faults[0]
      ?.remediation;
  expect(remedy({ running: 'No', io: 1045 })).toMatch(
    /^SHOW REPLICA STATUS; -- .*; then START REPLICA FOR CHANNEL 'a''b';$/,
  );
  expect(remedy({ running: 'Connecting', io: 1045 })).toMatch(/the thread then reconnects by itself$/);
  // Starting a replica whose source purged its log changes nothing.
  expect(remedy({ running: 'No', io: 13_114 })).not.toContain('START');
});

test('a relay log that is corrupt is fetched again, but only where GTIDs keep the position', () => {
  const remedy = (version: number, gtid: Row) =>
    judge(
      replicaStopped,
      [...settingsOf(version), status(version, '', { applying: 'No', error: 1594, ...gtid })],
      { version },
    ).faults[0]?.remediation;
  expect(remedy(MYSQL_84, { gtid: 1 })).toBe('STOP REPLICA; RESET REPLICA; START REPLICA;');
  expect(remedy(MARIADB, { gtid: 'Slave_Pos' })).toBe('STOP REPLICA; START REPLICA;');
  expect(remedy(MYSQL_84, {})).toMatch(
    /^SHOW REPLICA STATUS; -- note Relay_Source_Log_File and Exec_Source_Log_Pos/,
  );
  expect(remedy(MARIADB, {})).toMatch(
    /^SHOW ALL SLAVES STATUS; -- note Relay_Master_Log_File and Exec_Master_Log_Pos/,
  );
});

test('channels of group replication are ignored', () => {
  const rows = [
    ...settingsOf(MYSQL_84),
    status(MYSQL_84, 'group_replication_recovery', { running: 'No', applying: 'No' }),
  ];
  for (const check of [replicaStopped, replicaLag, replicaWritable])
    expect(judge(check, rows, { version: MYSQL_84 }).passMessage).toBe('This server is not a replica.');
});

test('the remediation proposes more threads if there is one: per channel in MySQL, for all in MariaDB', () => {
  const late = (version: number) =>
    judge(replicaLag, [...settingsOf(version), status(version, 'a', { behind: 60 })], { version }).faults[0]
      ?.remediation;
  expect(late(MYSQL_80)).toBe(
    `STOP SLAVE SQL_THREAD FOR CHANNEL 'a'; SET PERSIST slave_parallel_workers = 4; START SLAVE SQL_THREAD FOR CHANNEL 'a';`,
  );
  expect(late(MYSQL_84)).toMatch(/^SHOW PROCESSLIST;/);
  expect(late(MARIADB)).toMatch(/^STOP ALL SLAVES; SET GLOBAL slave_parallel_threads = 4; START ALL SLAVES;/);
});

test('a replication that somebody stopped is not started with the others', () => {
  const rows = [
    ...settingsOf(MARIADB),
    status(MARIADB, 'a', { behind: 60 }),
    status(MARIADB, 'b', { running: 'No', applying: 'No' }),
  ];
  expect(judge(replicaLag, rows, { version: MARIADB }).faults[0]?.remediation).toMatch(
    /^STOP ALL SLAVES; SET GLOBAL slave_parallel_threads = 4; START REPLICA 'a'; -- /,
  );
});

test.each([
  ['OFF', MARIADB, 'SET GLOBAL read_only = ON;'],
  ['OFF', MYSQL_84, 'SET PERSIST super_read_only = ON;'],
  ['ON', MYSQL_84, undefined],
  ['NO_LOCK_NO_ADMIN', 120_002, undefined],
])('read_only %s on %i: %s', (value, version, remediation) => {
  const rows = [...shown({ read_only: value }), status(version === MYSQL_84 ? version : MARIADB, '')];
  const { faults } = judge(replicaWritable, rows, { version });
  expect(faults.map((fault) => fault.remediation.split(' -- ')[0])).toEqual(remediation ? [remediation] : []);
});

test.each<[Record<string, string>, string[]]>([
  [{ slave_skip_errors: 'OFF', slave_exec_mode: 'STRICT' }, []],
  [{ replica_skip_errors: '', replica_exec_mode: 'STRICT' }, []],
  [{ slave_skip_errors: 'ALL', slave_exec_mode: 'STRICT' }, ['slave_skip_errors']],
  [{ slave_skip_errors: '1062', slave_exec_mode: 'IDEMPOTENT' }, ['slave_skip_errors', 'slave_exec_mode']],
  [
    { slave_skip_errors: '1062', replica_skip_errors: '1062', replica_exec_mode: 'IDEMPOTENT' },
    ['replica_skip_errors', 'replica_exec_mode'],
  ],
])('%j: %j', (settings, objects) => {
  const { faults } = judge(skipErrors, shown(settings), { version: MYSQL_84 });
  expect(faults.map(({ severity, object }) => [severity, object])).toEqual(
    objects.map((one) => ['critical', one]),
  );
});
