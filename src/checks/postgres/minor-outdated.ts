import type { Check } from '../check.ts';
import { onlyRow, textIn } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { counted } from '../wording.ts';
import { countOf, faultMeasure } from '../worst-measures.ts';

/** Major version → its latest minor version, as of the releases of 2026-05-14 (postgresql.org/support/versioning). */
const LATEST_MINORS: ReadonlyMap<number, number> = new Map([
  [14, 23],
  [15, 18],
  [16, 14],
  [17, 10],
  [18, 4],
]);
const AS_OF = '2026-05-14';

const sql = `
  select current_setting('server_version') as version`;

/** A check of the server's minor version against a table: major version → latest minor version known. */
export function minorOutdatedBy(latestMinors: ReadonlyMap<number, number>): Check {
  return {
    id: 'PG_MINOR_OUTDATED',
    title: 'Minor version outdated',
    category: 'configuration',
    maxSeverity: 'warning',
    volatile: false,
    scope: 'server',
    sql: () => sql,
    judge: (rows, facts) => {
      const version = textIn(onlyRow(rows), 'version');
      const major = Math.floor(facts.version / 10_000);
      const minor = facts.version % 10_000;
      const latest = latestMinors.get(major);
      const passMessage =
        latest === undefined
          ? `PostgreSQL ${version} is not in this check's table of minor versions as of ${AS_OF}.`
          : `PostgreSQL ${version} is at least ${major}.${latest}, the latest as of ${AS_OF}.`;
      if (latest === undefined) return { faults: [], passMessage, measures: [] };
      const missing = countOf('missing_minor_releases_count', Math.max(0, latest - minor));
      const measures: Measure[] = [missing];
      if (minor >= latest) return { faults: [], passMessage, measures };
      return {
        passMessage,
        measures,
        faults: [
          {
            severity: 'warning',
            object: null,
            metricLine: `PostgreSQL ${version} lacks the fixes of ${counted(latest - minor, 'minor release')}, up to ${major}.${latest}; install them and restart, the data stay as they are.`,
            remediation: `Install the packages of PostgreSQL ${major}.${latest} or later and restart the server; read the release notes in between.`,
            measured: faultMeasure(missing),
          },
        ],
      };
    },
  };
}

/** A minor version with known bugs, security bugs included, that a later one fixes. */
export const minorOutdated = minorOutdatedBy(LATEST_MINORS);
