import { expect, test } from 'vitest';
import type { Finding } from '../../checks/check.ts';
import { blockedSessions } from '../../checks/postgres/blocked-sessions.ts';
import { explainedFindings } from './findings.ts';

const BLOCKED = blockedSessions.thresholds ?? { warning_seconds: 0, critical_seconds: 0 };
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
  const watched = { engine: 'postgres' as const, thresholds: {}, tags: [], overrides: [] };
  const [now, before] = explainedFindings(watched, [{ ...skipped, missing_grant: grant }, skipped], []);
  expect([now?.missing_grant, before?.missing_grant]).toEqual([grant, null]);
});

test('a threshold says what sets it, and what would hold without the one of the connection', () => {
  const of = (tag: string, name: string, value: number) => ({
    tag,
    check_id: 'PG_BLOCKED_SESSIONS',
    name,
    value,
  });
  const [finding] = explainedFindings(
    {
      engine: 'postgres',
      thresholds: { PG_BLOCKED_SESSIONS: { critical_seconds: 9 } },
      tags: ['pci'],
      overrides: [
        of('', 'critical_seconds', 7),
        of('', 'warning_seconds', 5),
        of('pci', 'warning_seconds', 6),
      ],
    },
    [{ ...skipped, check_id: 'PG_BLOCKED_SESSIONS' }],
    [],
  );
  expect(finding?.thresholds).toEqual([
    {
      name: 'warning_seconds',
      unit: 'seconds',
      value: 6,
      default: BLOCKED.warning_seconds,
      inherited: 6,
      source: 'tag',
      tag: 'pci',
    },
    {
      name: 'critical_seconds',
      unit: 'seconds',
      value: 9,
      default: BLOCKED.critical_seconds,
      inherited: 7,
      source: 'connection',
      tag: '',
    },
  ]);
});
