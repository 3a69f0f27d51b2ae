import { expect, test } from 'vitest';
import type { Row } from '../fault.ts';
import { judgementOf } from '../judgement-of.ts';
import { mysqlChecks } from './mysql-checks.ts';

type Values = Record<string, string | number>;

/** The remediation of a check of counters that rose by so much in 300 s, on MariaDB 10.11. */
function remedy(id: string, by: Record<string, number>, settings: Values): string {
  const check = mysqlChecks.find((each) => each.id === id);
  const rows = (clock: number, counters: Values): Row[] => [
    { clock },
    ...Object.entries({ Uptime: clock, Uptime_since_flush_status: clock, ...counters, ...settings }).map(
      ([name, value]) => ({ Variable_name: name, Value: String(value) }),
    ),
  ];
  const none = Object.fromEntries(Object.keys(by).map((name) => [name, 0]));
  const before = { rows: rows(1_000, none), seconds: 300 };
  const facts = { version: 101_119, database: '', now: new Date(), before };
  const judgement = check && judgementOf(check, rows(1_300, by), facts);
  return judgement && 'faults' in judgement ? (judgement.faults[0]?.remediation ?? '') : '';
}

test.each([
  ['ON', 'OFF', 279, true],
  ['ON', 'ON', 279, false],
  ['ON', 'OFF', 0, false],
  ['OFF', 'OFF', 279, false],
])(
  'refused hosts: performance_schema %s, skip_name_resolve %s, %i hosts cached',
  (performance_schema, skip_name_resolve, host_cache_size, cached) => {
    const settings = { performance_schema, skip_name_resolve, host_cache_size };
    const remediation = remedy('MY_ABORTED_CONNECTS', { Aborted_connects: 10, Connections: 100 }, settings);
    expect(remediation.includes('host_cache')).toBe(cached);
    expect(remediation).toContain("SHOW GLOBAL STATUS LIKE 'Connection_errors%';");
  },
);

test.each([
  [{ slow_query_log: 'OFF' }, 'SET GLOBAL slow_query_log = ON;'],
  [{ performance_schema: 'ON' }, 'FROM performance_schema.events_statements_summary_by_digest'],
  [{ log_output: 'FILE' }, "'slow_query_log_file'"],
  [{ log_output: 'TABLE' }, 'FROM mysql.slow_log'],
  [{ log_output: 'NONE' }, "SET GLOBAL log_output = 'FILE';"],
])('slow queries with %j: %s', (settings, remediation) => {
  const all = {
    long_query_time: 10,
    performance_schema: 'OFF',
    log_output: 'FILE',
    slow_query_log: 'ON',
    ...settings,
  };
  expect(remedy('MY_SLOW_QUERIES', { Slow_queries: 10, Questions: 100 }, all)).toContain(remediation);
});

test('a buffer pool is enlarged only if there is memory, and by a restart beyond its maximum', () => {
  const misses = { Innodb_buffer_pool_read_requests: 1_000_000, Innodb_buffer_pool_reads: 50_000 };
  const [name, bytes] = ['innodb_buffer_pool_size', 2 ** 27];
  expect(remedy('MY_BP_MISS', misses, { [name]: bytes })).toMatch(
    /^SHOW GLOBAL VARIABLES .*; -- then, only if the machine has 128 MB of memory to spare: SET GLOBAL/,
  );
  expect(remedy('MY_BP_MISS', misses, { [name]: bytes, [`${name}_max`]: bytes })).toMatch(
    / to spare: Put innodb_buffer_pool_size = /,
  );
});
