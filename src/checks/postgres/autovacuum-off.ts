import type { Check, Judgement, Skipped } from '../check.ts';
import type { Row } from '../fault.ts';
import { alterSystem } from './alter-system.ts';
import { AUTOVACUUM_LAUNCHER, hidingTheServers } from './own-role-settings.ts';
import { grantMonitor } from './session-check.ts';
import { settingOff } from './setting-off.ts';

const ofSettings = settingOff({
  id: 'PG_AUTOVACUUM_OFF',
  title: 'Autovacuum is off',
  category: 'vacuum',
  severity: 'warning',
  settings: {
    autovacuum: 'dead rows pile up and statistics become stale',
    track_counts: 'autovacuum has no counters to act on, so it does nothing',
  },
});

// Only the server's own settings decide whether the launcher runs. A role or a database can't change autovacuum.
const launcher = `
  select exists (${hidingTheServers('track_counts')}) as hides_the_servers,
         pg_is_in_recovery() as standby,
         quote_ident(current_user) as me,
         launcher.*
    from (${AUTOVACUUM_LAUNCHER}) launcher`;

/** Without autovacuum, or the counters that it acts on, dead rows pile up and transaction ids run out. */
export const autovacuumOff: Check = {
  ...ofSettings,
  sql: (version) => [ofSettings.sql(version), launcher].flat(),
  judge: (rows, facts) => {
    const judgement = ofSettings.judge(
      rows.filter((row) => 'name' in row),
      facts,
    );
    const server = rows.find((row) => 'launched' in row);
    const isKnown = 'faults' in judgement && judgement.faults.some(({ object }) => object === 'track_counts');
    if (isKnown || server?.['hides_the_servers'] !== true) return judgement;
    return behindOthers(judgement, server, facts);
  },
};

/** Adds the server's track_counts, which the session has another value of. */
function behindOthers(
  judgement: Judgement,
  server: Row,
  facts: Parameters<typeof alterSystem>[0],
): Judgement {
  if ('skipped' in judgement) return judgement;
  if (server['launched'] === true) return judgement;
  const unknown = whyUnknown(server);
  if (unknown) {
    const { grant } = unknown;
    return judgement.faults.length === 0
      ? unknown
      : { ...judgement, truncated: true, ...(grant !== undefined && { grant }) };
  }
  return {
    ...judgement,
    faults: [
      ...judgement.faults,
      {
        severity: 'warning',
        object: 'track_counts',
        metricLine:
          "autovacuum is on, but its launcher does not run: track_counts is off for the server, and on for some roles or databases, the monitor's among them; turn it on.",
        remediation: alterSystem(facts, { name: 'track_counts', value: 'on' }),
      },
    ],
  };
}

/** Why a launcher that is not seen says nothing; undefined if it does. */
function whyUnknown(server: Row): Skipped | undefined {
  const hidden = "Not measured: a setting of the monitor's role or database hides the server's track_counts";
  if (server['standby'] === true) return { skipped: `${hidden}, and a standby has no autovacuum launcher.` };
  if (server['runs_one'] !== true) return { skipped: `${hidden}.` };
  if (server['sees_processes'] !== true)
    return { skipped: `${hidden}, and the server's processes are hidden.`, grant: grantMonitor(server) };
  return undefined;
}
