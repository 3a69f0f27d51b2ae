import type { Check } from '../check.ts';
import { numberIn, onlyRow } from '../columns.ts';
import { size } from '../wording.ts';
import { atMost, faultMeasure } from '../worst-measures.ts';
import { alterSystem, PAGE } from './alter-system.ts';

/** Bytes: PostgreSQL's own default, which initdb lowers only on machines that can't give as much. */
const thresholds = { warning_bytes: 128 * 1024 * 1024 };

// Both are plain numbers in pg_settings: pages, and bytes a page.
const sql = `
  select buffers.setting::float8 * page.setting::float8 as bytes
    from pg_settings buffers, pg_settings page
   where buffers.name = 'shared_buffers'
     and page.name = 'block_size'`;

/** A PostgreSQL cache below its default size. */
export const sharedBuffersLow: Check<typeof thresholds> = {
  id: 'PG_SHARED_BUFFERS_LOW',
  title: 'shared_buffers is small',
  category: 'configuration',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { warning_bytes } = facts.thresholds;
    const bytes = numberIn(onlyRow(rows), 'bytes');
    const passMessage = `shared_buffers is ${size(bytes)}.`;
    const scale = atMost('shared_buffers_bytes', Math.ceil(warning_bytes) - 1);
    const measure = { ...scale, object: null, value: bytes };
    const measures = [measure];
    if (bytes >= warning_bytes) return { faults: [], passMessage, measures };
    return {
      passMessage,
      measures,
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: `shared_buffers is ${size(bytes)}; set at least ${size(warning_bytes)}, or a quarter of the memory on a dedicated machine.`,
          remediation: alterSystem(facts, {
            name: 'shared_buffers',
            value: Math.ceil(warning_bytes / PAGE),
            literal: `'${Math.ceil(warning_bytes / 1024 / 1024)}MB'`,
            restart: true,
          }),
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};
