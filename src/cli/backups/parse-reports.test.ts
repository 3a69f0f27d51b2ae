import { expect, test } from 'vitest';
import { type BackupTool, parseReport } from './parse-reports.ts';

const now = new Date('2026-11-28T12:00:00Z');
const parse = (tool: BackupTool, report: unknown, name?: string) =>
  parseReport(tool, { text: typeof report === 'string' ? report : JSON.stringify(report), name, now });

const PGBACKREST = {
  archive: [{ database: { id: 1, 'repo-key': 1 }, id: '18-1', max: '0000000100000000000000FF', min: null }],
  backup: [
    {
      annotation: { note: 'before the move' },
      archive: { start: '000000010000000A00000010', stop: '000000010000000A00000012' },
      backrest: { format: 5, version: '2.58.0' },
      database: { id: 1, 'repo-key': 1 },
      error: false,
      info: {
        delta: 3_865_470_566,
        repository: { delta: 702_545_920, 'delta-map': 36_544, 'size-map': 36_544 },
        size: 3_865_470_566,
      },
      label: '20261127-010002F',
      lsn: { start: 'A/10000028', stop: 'A/12000050' },
      prior: null,
      reference: null,
      timestamp: { start: 1_795_741_202, stop: 1_795_741_501 },
      type: 'full',
    },
    {
      error: true,
      'error-list': ['base/1/3351'],
      info: { delta: 52_000_000, repository: { delta: 9_800_000, size: 712_345_920 }, size: 3_870_000_000 },
      label: '20261127-010002F_20261128-010003I',
      prior: '20261127-010002F',
      reference: ['20261127-010002F'],
      timestamp: { start: 1_795_827_603, stop: 1_795_827_640 },
      type: 'incr',
    },
  ],
  cipher: 'none',
  db: [{ id: 1, 'repo-key': 1, 'system-id': 6_970_977_677_138_971, version: '18' }],
  name: 'shop',
  repo: [{ cipher: 'none', key: 1, status: { code: 0, message: 'ok' } }],
  status: { code: 0, lock: { backup: { held: false } }, message: 'ok' },
};

test('pgBackRest: size of the database, not of the increment; damaged pages are a failure; newest first', () => {
  expect(parse('pgbackrest', [PGBACKREST])).toEqual([
    {
      label: '20261127-010002F_20261128-010003I',
      at: new Date('2026-11-28T01:00:40Z'),
      startedAt: new Date('2026-11-28T01:00:03Z'),
      succeeded: false,
      bytes: 3_870_000_000,
    },
    {
      label: '20261127-010002F',
      at: new Date('2026-11-27T01:05:01Z'),
      startedAt: new Date('2026-11-27T01:00:02Z'),
      succeeded: true,
      bytes: 3_865_470_566,
    },
  ]);
});

test('pgBackRest: of several stanzas one must be chosen', () => {
  const other = { ...PGBACKREST, name: 'crm', backup: [] };
  expect(() => parse('pgbackrest', [PGBACKREST, other])).toThrow('--stanza: the report has shop, crm.');
  expect(() => parse('pgbackrest', [PGBACKREST], 'crm')).toThrow('--stanza');
  expect(parse('pgbackrest', [PGBACKREST, other], 'crm')).toEqual([]);
});

test('pgBackRest: a stanza that could not be read is told, one without a backup is not', () => {
  const empty = (code: number, message: string) => [
    { backup: [], db: [], name: 'shop', status: { code, lock: { backup: { held: false } }, message } },
  ];
  expect(() => parse('pgbackrest', empty(1, 'missing stanza path'))).toThrow(
    'pgBackRest could not read the stanza shop: missing stanza path.',
  );
  expect(() => parse('pgbackrest', empty(99, 'other'))).toThrow('stanza shop: other.');
  expect(parse('pgbackrest', empty(2, 'no valid backups'))).toEqual([]);
});

test('Barman: done and failed backups, none that is running', () => {
  const report = {
    main: [
      {
        backup_id: '20261128T020001',
        end_time: 'Sat Nov 28 02:10:00 2026',
        end_time_timestamp: '1795831800',
        retention_status: '-',
        size: '22.4 GiB',
        size_bytes: 24_051_816_857,
        status: 'WAITING_FOR_WALS',
        tablespaces: [],
        wal_size: '0 B',
        wal_size_bytes: 0,
      },
      { backup_id: '20261128T040000', status: 'STARTED' },
      { backup_id: '20261127T020001', status: 'FAILED' },
    ],
    _INFO: ['a message'],
  };
  expect(parse('barman', report)).toEqual([
    {
      label: '20261128T020001',
      at: new Date('2026-11-28T02:10:00Z'),
      startedAt: null,
      succeeded: true,
      bytes: 24_051_816_857,
    },
    {
      label: '20261127T020001',
      at: new Date('2026-11-27T02:00:01'),
      startedAt: null,
      succeeded: false,
      bytes: null,
    },
  ]);
});

test('WAL-G: of PostgreSQL and of MySQL, and an empty list', () => {
  const postgres = {
    backup_name: 'base_000000010000000100000009',
    time: '2026-11-28T03:36:36.757Z',
    wal_file_name: '000000010000000100000009',
    start_time: '2026-11-28T03:30:59.892342Z',
    finish_time: '2026-11-28T03:36:31.852791Z',
    date_fmt: '%Y-%m-%dT%H:%M:%S.%fZ',
    hostname: 'db1',
    pg_version: 180_000,
    is_permanent: false,
    uncompressed_size: 131_246_337,
    compressed_size: 16_074_711,
  };
  const mysql = {
    backup_name: 'stream_20261127T070815Z',
    modify_time: '2026-11-27T07:09:59.745Z',
    start_local_time: '2026-11-27T10:08:15.007416+03:00',
    stop_local_time: '2026-11-27T10:08:30.793473+03:00',
    is_permanent: true,
  };
  expect(parse('walg', [mysql, postgres])).toMatchObject([
    { label: postgres.backup_name, at: new Date('2026-11-28T03:36:31.852Z'), bytes: 131_246_337 },
    { label: mysql.backup_name, at: new Date('2026-11-27T07:08:30.793Z'), bytes: null, succeeded: true },
  ]);
  expect(parse('walg', 'null')).toEqual([]);
});

test('WAL-G: a delta has no size to compare, and a list without --detail is told', () => {
  const full = {
    backup_name: 'base_000000010000000100000009',
    start_time: '2026-11-27T03:30:59.892342Z',
    finish_time: '2026-11-27T03:36:31.852791Z',
    uncompressed_size: 131_246_337,
  };
  const delta = {
    ...full,
    backup_name: 'base_00000001000000010000000F_D_000000010000000100000009',
    finish_time: '2026-11-28T03:31:31.852791Z',
    uncompressed_size: 1_246_337,
  };
  expect(parse('walg', [full, delta]).map(({ bytes }) => bytes)).toEqual([null, 131_246_337]);
  const short = { backup_name: full.backup_name, time: '2026-11-27T03:36:36Z', wal_file_name: '0000' };
  expect(() => parse('walg', [short])).toThrow('add --detail to wal-g backup-list');
});

test('Barman: an increment and a snapshot have no size to compare', () => {
  const done = {
    backup_id: '20261128T020001',
    end_time_timestamp: '1795831800',
    status: 'DONE',
    size_bytes: 5,
  };
  const sizes = (more: object) => parse('barman', { main: [{ ...done, ...more }] }).map(({ bytes }) => bytes);
  expect(sizes({ backup_type: 'full' })).toEqual([5]);
  expect(sizes({ backup_type: 'rsync' })).toEqual([5]);
  expect(sizes({ backup_type: 'incremental' })).toEqual([null]);
  expect(sizes({ backup_type: 'snapshot', size_bytes: null })).toEqual([null]);
});

test('mariabackup: rows of the history table', () => {
  const text = 'uuid\tstart_time\tend_time\nb1c2\t2026-11-28 01:00:00\t2026-11-28 01:20:30\n';
  expect(parse('mariabackup', text)).toEqual([
    {
      label: 'b1c2',
      startedAt: new Date('2026-11-28T01:00:00Z'),
      at: new Date('2026-11-28T01:20:30Z'),
      succeeded: true,
      bytes: null,
    },
  ]);
});

const [full] = PGBACKREST.backup;
const changed = (backup: object) => [{ ...PGBACKREST, backup: [{ ...full, ...backup }] }];

test.each<[BackupTool, unknown]>([
  ['pgbackrest', ''],
  ['pgbackrest', '[]'],
  ['pgbackrest', '{}'],
  ['pgbackrest', 'null'],
  ['pgbackrest', '[[]]'],
  ['pgbackrest', [{ ...PGBACKREST, backup: {} }]],
  ['pgbackrest', changed({ label: '' })],
  ['pgbackrest', changed({ label: 7 })],
  ['pgbackrest', changed({ label: 'a\u001b[2J' })],
  ['pgbackrest', changed({ label: 'x'.repeat(201) })],
  ['pgbackrest', changed({ info: { size: -1 } })],
  ['pgbackrest', changed({ info: { size: 1e300 } })],
  ['pgbackrest', changed({ info: { size: '5' } })],
  ['pgbackrest', changed({ timestamp: { start: 1, stop: 1 } })],
  ['pgbackrest', changed({ timestamp: { start: 1_795_741_202, stop: null } })],
  ['pgbackrest', changed({ timestamp: { start: 1_795_741_202, stop: 1e300 } })],
  ['barman', '[]'],
  ['barman', { main: {} }],
  ['barman', { main: [{ backup_id: 'x', status: 'FAILED' }] }],
  ['barman', { main: [{ backup_id: '20269999T999999', status: 'FAILED' }] }],
  ['barman', { main: [{ backup_id: '20261128T020001', status: 'DONE', size_bytes: 1 }] }],
  ['barman', '{"__proto__": [{"backup_id": "x"}]}'],
  ['walg', '{}'],
  ['walg', [{ backup_name: 'a', finish_time: 'yesterday' }]],
  ['walg', [{ backup_name: 'a' }]],
  ['mariabackup', ''],
  ['mariabackup', 'uuid\tend_time\n'],
  ['mariabackup', 'uuid\tstart_time\tend_time\na\tNULL\tNULL\n'],
  ['mariabackup', 'uuid\tstart_time\tend_time\na\t2026-11-28 01:00:00\t2026-11-28 01:20:30\tb\n'],
])('%s: %j is refused', (tool, report) => {
  expect(() => parse(tool, report)).toThrow(/^This is not a report of the tool: /);
});

test('a backup of the future is refused: it would count as new until then', () => {
  const stop = now.getTime() / 1_000 + 601;
  expect(() => parse('pgbackrest', changed({ timestamp: { start: stop, stop } }))).toThrow('in the future');
  expect(parse('pgbackrest', changed({ timestamp: { start: stop, stop: stop - 2 } }))).toHaveLength(1);
});

test('of a long report the newest 500 are read, and no more than 8 MiB', () => {
  const backup = Array.from({ length: 600 }, (_, n) => ({
    ...full,
    label: `b${n}`,
    timestamp: { start: 1_795_000_000, stop: 1_795_000_000 + n },
  }));
  const reports = parse('pgbackrest', [{ ...PGBACKREST, backup }]);
  expect([reports.length, reports[0]?.label]).toEqual([500, 'b599']);
  expect(() => parse('pgbackrest', ' '.repeat(8 * 1024 * 1024 + 1))).toThrow('larger than 8 MiB');
});
