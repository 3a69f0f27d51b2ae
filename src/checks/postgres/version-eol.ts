import type { Check } from '../check.ts';
import { onlyRow, textIn } from '../columns.ts';

/** Major version → the day of its last release (postgresql.org/support/versioning). */
const LAST_RELEASES = new Map([
  [9, '2021-11-11'], // 9.6, the last of the nines
  [10, '2022-11-10'],
  [11, '2023-11-09'],
  [12, '2024-11-21'],
  [13, '2025-11-13'],
  [14, '2026-11-12'],
  [15, '2027-11-11'],
  [16, '2028-11-09'],
  [17, '2029-11-08'],
  [18, '2030-11-14'],
]);
const NEWEST = Math.max(...LAST_RELEASES.keys());

const sql = `
  select current_setting('server_version') as version`;

/** A major version that gets no more fixes, not even for security. */
export const versionEol: Check = {
  id: 'PG_VERSION_EOL',
  title: 'Unsupported PostgreSQL version',
  category: 'configuration',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows, facts) => {
    const version = textIn(onlyRow(rows), 'version');
    const major = Math.max(9, Math.floor(facts.version / 10_000));
    const last = LAST_RELEASES.get(major);
    const passMessage =
      last === undefined
        ? `PostgreSQL ${version} is newer than this check's table of versions.`
        : `PostgreSQL ${version} is supported until ${last}.`;
    if (last === undefined || facts.now.toISOString().slice(0, 10) <= last)
      return { faults: [], measures: [], passMessage };
    return {
      passMessage,
      measures: [],
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: `PostgreSQL ${version} has had no fixes since ${last}; upgrade to PostgreSQL ${NEWEST}.`,
          remediation: `Upgrade to PostgreSQL ${NEWEST} with pg_upgrade, or by logical replication if downtime must be short.`,
        },
      ],
    };
  },
};
