import type { Check } from '../check.ts';
import type { Measure } from '../measure.ts';
import { counted, percent, size } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';

/** Share of the machine's memory, and that memory in GiB; 0 = not known, because the server does not show it. */
const thresholds = { warning: 1, memory_gb: 0 };

/** Buffers of the server. The last two are MariaDB's only. */
const GLOBAL = [
  'innodb_buffer_pool_size',
  'innodb_log_buffer_size',
  'key_buffer_size',
  'aria_pagecache_buffer_size',
  'query_cache_size',
];

/** Buffers of a session that runs one statement. It may need more: a join buffer for each join, temporary tables. */
const SESSION = [
  'sort_buffer_size',
  'join_buffer_size',
  'read_buffer_size',
  'read_rnd_buffer_size',
  'binlog_cache_size',
  'thread_stack',
];

const METRIC = 'possible_memory_ratio';

/** The buffers that the settings allow are larger than the machine's memory, which only a member can tell. */
export const memoryOvercommit: Check<typeof thresholds> = {
  id: 'MY_MEMORY_OVERCOMMIT',
  title: 'Buffers beyond the memory',
  category: 'configuration',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  thresholds,
  sql: () => figures({ variables: [...GLOBAL, ...SESSION, 'max_connections'] }),
  judge: (rows, { thresholds: { warning, memory_gb } }) => {
    const settings = new Figures(rows);
    const connections = settings.number('max_connections');
    if (memory_gb <= 0)
      return {
        skipped:
          'Not measured: the server does not show the memory of its machine. Set it in GB: connection change ID --threshold MY_MEMORY_OVERCOMMIT.memory_gb=16.',
      };
    const sum = (names: string[]) =>
      names.filter((name) => settings.has(name)).reduce((bytes, name) => bytes + settings.number(name), 0);
    const [shared, each, memory] = [sum(GLOBAL), sum(SESSION), memory_gb * 2 ** 30];
    const possible = shared + connections * each;
    const scale = { metric: METRIC, operator: '>=', warning, critical: null } as const;
    const measure: Measure = { ...scale, object: null, value: possible / memory };
    const words = `The buffers can take ${size(possible)}, ${percent(possible / memory)} of ${size(memory)}: ${size(shared)} for the server and ${size(each)} for each of ${counted(connections, 'connection')}`;
    return {
      passMessage: `${words}.`,
      measures: [measure],
      faults:
        possible / memory < warning
          ? []
          : [
              {
                severity: 'warning',
                object: null,
                metricLine: `${words}; allow fewer connections, or smaller buffers.`,
                remediation:
                  "SHOW GLOBAL STATUS LIKE 'Max_used_connections%'; -- then lower max_connections to what is needed at most, and if that is not enough the largest buffers, for good",
                measured: faultMeasure(measure),
              },
            ],
    };
  },
};
