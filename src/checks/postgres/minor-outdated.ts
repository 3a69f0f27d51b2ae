import { EMBEDDED_STORE } from '../../vocabulary/hosted/embedded-store.ts';
import type { Check } from '../check.ts';
import { onlyRow, textIn } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { counted } from '../wording.ts';
import { countOf, faultMeasure } from '../worst-measures.ts';

/** The latest minor version of each major one, as of a day. */
interface MinorReleases {
  latest: ReadonlyMap<number, number>;
  asOf: string;
}

/** The releases of 2026-11-12 (postgresql.org/support/versioning). */
const RELEASES: MinorReleases = {
  latest: new Map([
    [14, 25],
    [15, 20],
    [16, 16],
    [17, 12],
    [18, 6],
  ]),
  asOf: '2026-11-12',
};

const sql = `
  select current_setting('server_version') as version,
         current_setting('cluster_name') as cluster_name`;

/** A check of the server's minor version against a table of releases. */
export function minorOutdatedBy({ latest: latestMinors, asOf }: MinorReleases): Check {
  return {
    id: 'PG_MINOR_OUTDATED',
    title: 'Minor version outdated',
    category: 'configuration',
    maxSeverity: 'warning',
    volatile: false,
    scope: 'server',
    sql: () => sql,
    judge: (rows, facts) => {
      const row = onlyRow(rows);
      const version = textIn(row, 'version');
      const major = Math.floor(facts.version / 10_000);
      const minor = facts.version % 10_000;
      const latest = latestMinors.get(major);
      if (latest === undefined)
        return {
          faults: [],
          passMessage: `PostgreSQL ${version} is not in this check's table of minor versions as of ${asOf}.`,
          measures: [],
        };
      const planned = nextRelease(asOf);
      const passMessage =
        facts.now.toISOString().slice(0, 10) <= planned
          ? `PostgreSQL ${version} is at least ${major}.${latest}, the latest as of ${asOf}.`
          : `PostgreSQL ${version} is at least ${major}.${latest}, the latest that this version of dbvitals knows (as of ${asOf}). PostgreSQL planned newer ones for ${planned}: update dbvitals.`;
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
            metricLine: `PostgreSQL ${version} lacks the fixes of ${counted(latest - minor, 'minor release')}, up to ${major}.${latest}; update it, the data stay as they are.`,
            remediation:
              row['cluster_name'] === EMBEDDED_STORE
                ? `Update dbvitals, which brings this PostgreSQL; if its latest version has no PostgreSQL ${major}.${latest}, set DATABASE_URL to a server of your own that has it.`
                : `Install the packages of PostgreSQL ${major}.${latest} or later and restart the server; read the release notes in between.`,
            measured: faultMeasure(missing),
          },
        ],
      };
    },
  };
}

/** The first planned day of minor releases after a day: the second Thursdays of February, May, August and November. */
function nextRelease(day: string): string {
  for (let month = Number(day.slice(5, 7)) - 1; ; month++) {
    if (month % 3 !== 1) continue;
    const first = new Date(Date.UTC(Number(day.slice(0, 4)), month, 1));
    first.setUTCDate(8 + ((4 - first.getUTCDay() + 7) % 7));
    const planned = first.toISOString().slice(0, 10);
    if (planned > day) return planned;
  }
}

/** The day from which on the table is out of date. */
export const nextMinorReleases = nextRelease(RELEASES.asOf);

/** A minor version with known bugs, security bugs included, that a later one fixes. */
export const minorOutdated = minorOutdatedBy(RELEASES);
