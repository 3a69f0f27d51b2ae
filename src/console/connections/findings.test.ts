import { expect, test } from 'vitest';
import type { Finding } from '../../checks/check.ts';
import { explainedFindings } from './findings.ts';

const grant = 'GRANT pg_monitor TO watcher;';
const skipped: Finding = {
  check_id: 'PG_LONG_QUERY',
  category: 'connections',
  status: 'skipped',
  title: 'Long-running query',
  metric_line: `Not measured: the sessions of other roles are hidden. Run ${grant}`,
  remediation: '',
  severity: 'critical',
  database: '',
  object: null,
};

test('the missing GRANT is that of the stored finding; one that was stored without it has none', () => {
  const watched = { engine: 'postgres' as const, thresholds: {} };
  const [now, before] = explainedFindings(watched, [{ ...skipped, missing_grant: grant }, skipped], []);
  expect([now?.missing_grant, before?.missing_grant]).toEqual([grant, null]);
});
