import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { seen } from '../../../test/support/seen-judgement.ts';
import { judgementOf } from '../judgement-of.ts';
import { memoryOvercommit } from './memory-overcommit.ts';

const MB = 2 ** 20;

/** 500 MB for the server and 5 MB for each connection. */
function judge(connections: number, thresholds: Record<string, number>) {
  const settings = {
    innodb_buffer_pool_size: 400 * MB,
    innodb_log_buffer_size: 64 * MB,
    key_buffer_size: 36 * MB,
    sort_buffer_size: MB,
    join_buffer_size: MB,
    read_buffer_size: MB / 2,
    read_rnd_buffer_size: MB,
    binlog_cache_size: MB / 2,
    thread_stack: MB,
    max_connections: connections,
  };
  const rows = Object.entries(settings).map(([name, value]) => ({
    Variable_name: name,
    Value: String(value),
  }));
  const judgement = seen(
    judgementOf(memoryOvercommit, rows, {
      version: 90_700,
      database: '',
      now: new Date('2026-11-21'),
      thresholds,
    }),
  );
  expectMeasures(memoryOvercommit, judgement);
  return judgement;
}

test('without the size of the memory the check is skipped, and says how to set it', () => {
  expect(judge(9_999, {}).skipped).toContain('--threshold MY_MEMORY_OVERCOMMIT.memory_gb=16');
});

test('the buffers of all connections are compared with the memory', () => {
  expect(judge(104, { memory_gb: 1 }).faults).toEqual([]);
  expect(judge(105, { memory_gb: 1.1 }).faults).toEqual([]);
  const { faults } = judge(105, { memory_gb: 1 });
  expect(faults).toMatchObject([{ severity: 'warning', object: null }]);
  expect(faults[0]?.metricLine).toBe(
    'The buffers can take 1.0 GB, 100 % of 1.0 GB: 500 MB for the server and 5 MB for each of 105 connections; allow fewer connections, or smaller buffers.',
  );
  expect(judge(105, { memory_gb: 1, warning: 1.5 }).faults).toEqual([]);
});
