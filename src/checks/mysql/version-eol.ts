import type { Check } from '../check.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';

/** The support dates of both vendors. Versions without patch: 8.4 is 804. */
interface Releases {
  name: string;
  /** Long-term releases to upgrade to, ascending. */
  longSupport: readonly number[];
  /** The day of the last fixes of each. Older versions count as the oldest. */
  lastFixes: ReadonlyMap<number, string>;
}

// Oracle Lifetime Support Policy, extended support, given in months; an innovation release ends with the
// next release (dev.mysql.com/doc/refman/8.4/en/mysql-releases.html). After 9.7 came 26.7, in July 2026.
const MYSQL: Releases = {
  name: 'MySQL',
  longSupport: [804, 907],
  lastFixes: new Map([
    [507, '2023-10-31'],
    [800, '2026-04-30'],
    [801, '2023-10-25'],
    [802, '2023-12-14'],
    [803, '2024-04-30'],
    [804, '2032-04-30'],
    [900, '2024-10-15'],
    [901, '2025-01-21'],
    [902, '2025-04-15'],
    [903, '2025-07-22'],
    [904, '2025-10-21'],
    [905, '2026-01-20'],
    [906, '2026-04-21'],
    [907, '2034-04-30'],
    [2607, '2026-10-31'],
  ]),
};

// mariadb.org/about/#maintenance-policy
const MARIADB: Releases = {
  name: 'MariaDB',
  longSupport: [1108, 1203],
  lastFixes: new Map([
    [1005, '2025-06-24'],
    [1006, '2026-07-06'],
    [1007, '2023-02-14'],
    [1008, '2023-05-20'],
    [1009, '2023-08-22'],
    [1010, '2023-11-17'],
    [1011, '2028-02-16'],
    [1100, '2024-06-06'],
    [1101, '2024-08-21'],
    [1102, '2024-11-21'],
    [1103, '2024-05-29'],
    [1104, '2029-05-29'],
    [1105, '2024-11-21'],
    [1106, '2025-02-13'],
    [1107, '2025-05-12'],
    [1108, '2028-06-04'],
    [1200, '2025-11-18'],
    [1201, '2026-02-13'],
    [1202, '2026-05-13'],
  ]),
};

/** A version that gets no more fixes, not even for security. */
export const versionEol: Check = {
  id: 'MY_VERSION_EOL',
  title: 'Unsupported MySQL or MariaDB version',
  category: 'configuration',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  sql: () => figures({ variables: ['version'] }),
  judge: (rows, facts) => {
    const { name, longSupport, lastFixes } = isMariaDb(facts.version) ? MARIADB : MYSQL;
    const [number = 'of an unknown version'] = /^\d[\d.]*/.exec(new Figures(rows).text('version')) ?? [];
    const version = `${name} ${number}`;
    const own = Math.max(Math.min(...lastFixes.keys()), Math.floor(facts.version / 100));
    const last = lastFixes.get(own);
    const passMessage =
      last === undefined
        ? `${version} is newer than this check's table of versions.`
        : `${version} is supported until ${last}.`;
    if (last === undefined || facts.now.toISOString().slice(0, 10) <= last)
      return { faults: [], measures: [], passMessage };
    // There is no way back to an older one.
    const next = longSupport.find((release) => release > own);
    const goTo =
      next === undefined ? 'its newest release' : `${name} ${Math.floor(next / 100)}.${next % 100}`;
    return {
      passMessage,
      measures: [],
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: `${version} has had no fixes from its vendor since ${last}; upgrade to ${goTo}.`,
          remediation: `Upgrade to ${goTo}: on a copy first, then in place, or through a replica if downtime must be short.`,
        },
      ],
    };
  },
};
