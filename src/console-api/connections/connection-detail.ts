import type { Finding } from '../../checks/check.ts';
import { fingerprints } from '../../connections/connection-settings.ts';
import type { Override } from '../../connections/thresholds/effective-thresholds.ts';
import { overridesOfConnection } from '../../connections/thresholds/list-overrides.ts';
import { notFound } from '../../platform/rejection.ts';
import type { Static } from '../../platform/schema/schema.ts';
import { serverVersion } from '../../platform/text/server-version.ts';
import type { Read } from '../../store/read.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { countSnoozed } from '../../tickets/triage/ticket-state.ts';
import { fleetStatus } from '../../vocabulary/score-bands.ts';
import { STALE } from '../fleet/fleet-routes.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { ConnectionDetail, type ConnectionSettings, type Cost } from './connection-schemas.ts';
import { explainedFindings, type TicketOfFinding } from './findings.ts';

const selectSettings = `
  select c.connection_id as id, c.version, c.name, c.engine, c.connection_type, c.host, c.port, c.database, c.username,
         c.provider, c.token_source, c.tls, c.has_credential as has_password, c.password_exposable, c.ca_certificate,
         case when c.connection_type = 'ssh_tunnel' and c.ssh_host is not null
              then jsonb_build_object('username', c.ssh_username, 'host', c.ssh_host, 'port', coalesce(c.ssh_port, 22),
                                      'has_key', c.has_ssh_credential, 'host_key', c.ssh_host_key) end as ssh,
         c.thresholds, c.expected_standbys, c.query_texts, c.pulse_seconds, c.backup_expected_seconds,
         extract(epoch from s.every)::float8 as interval_seconds,
         ${tagsOfConnection} as tags, c.created_at
    from connection c
    left join connection_schedule s on s.account_id = c.account_id and s.connection_id = c.connection_id
   where c.account_id = $1 and c.connection_id = $2 and c.removed_at is null`;

interface SettingsRow extends Omit<ConnectionSettings, 'ca_fingerprints' | 'created_at'> {
  ca_certificate: string | null;
  created_at: Date;
}

/** A connection's settings. Throws 404 when it does not exist or was removed. */
export async function readSettings(
  run: Read,
  accountId: number,
  connectionId: number,
): Promise<ConnectionSettings> {
  const [row] = await run<SettingsRow>(selectSettings, [accountId, connectionId]);
  if (!row) throw notFound();
  const { ca_certificate, created_at, ...settings } = row;
  return {
    ...settings,
    ca_fingerprints: ca_certificate === null ? [] : fingerprints(ca_certificate),
    created_at: created_at.toISOString(),
  };
}

const selectState = `
  select c.latest_score as score, v.version as version_number, t.last_checked_at, s.due_at as next_due_at, t.last_day::text as last_day, t.scores,
         coalesce(s.claimed_until > now(), false) as running, ${STALE} as stale,
         ${overridesOfConnection} as overrides, h.health_check_id as check_id, h.created_at, h.summary_text, h.findings, h.cost,
         (select coalesce(sum(open_critical + open_warning + open_info), 0)::int from ticket_tally
           where account_id = $1 and connection_id = $2 and level = 3)
           - ${countSnoozed('t.connection_id = $2')} as open_tickets
    from connection c
    left join connection_trend t on t.account_id = $1 and t.connection_id = $2
    left join connection_version v on v.account_id = $1 and v.connection_id = $2
    left join connection_schedule s on s.account_id = $1 and s.connection_id = $2
    left join health_check h on h.account_id = $1 and h.health_check_id = c.latest_check_id
   where c.account_id = $1 and c.connection_id = $2 and c.removed_at is null`;

interface StateRow {
  score: number | null;
  version_number: number | null;
  last_checked_at: Date | null;
  next_due_at: Date | null;
  last_day: string | null;
  scores: (number | null)[] | null;
  running: boolean;
  stale: boolean;
  check_id: number | null;
  created_at: Date;
  summary_text: string;
  findings: Finding[] | null;
  cost: Static<typeof Cost> | null;
  overrides: Override[];
  open_tickets: number;
}

// The checks of the last week in order; with an interval of 10 s, of 14 hours. Older ones are shown per day.
const selectRecent = `
  select created_at as at, score, in_maintenance
    from (select created_at, score, in_maintenance, health_check_id,
                 row_number() over (partition by half_hour order by created_at desc, health_check_id desc) as from_last,
                 row_number() over (partition by half_hour order by score, created_at desc, health_check_id desc) as from_lowest,
                 row_number() over (partition by half_hour order by score desc, created_at desc, health_check_id desc) as from_highest
            from (select created_at, score, in_maintenance, health_check_id,
                         date_bin('30 min', created_at, '2000-01-01') as half_hour
                    from health_check
                   where account_id = $1 and connection_id = $2
                   order by created_at desc, health_check_id desc
                   limit 5000) latest
           where created_at > now() - interval '7 days') recent
   where 1 in (from_last, from_lowest, from_highest)
   order by created_at, health_check_id`;

const selectTickets = `
  select ticket_id, check_id, database, object
    from ticket
   where account_id = $1 and connection_id = $2 and status = 'open'`;

const getConnection = consoleRoute({
  method: 'GET',
  path: '/connections/:id',
  permission: 'health:read',
  response: ConnectionDetail,
  async handler({ actor: { accountId }, id, read }) {
    const { settings, state, history, tickets } = await read(async (run) => {
      const settings = await readSettings(run, accountId, id);
      return { settings, ...(await readState(run, accountId, id)) };
    });
    const { score, check_id, findings, created_at, summary_text, cost, overrides, version_number } = state;
    return {
      settings,
      score,
      status: fleetStatus(score),
      stale: state.stale,
      server_version: version_number === null ? null : serverVersion(settings.engine, version_number),
      last_checked_at: state.last_checked_at?.toISOString() ?? null,
      next_due_at: state.next_due_at?.toISOString() ?? null,
      running: state.running,
      latest:
        check_id === null || score === null
          ? null
          : {
              id: check_id,
              created_at: created_at.toISOString(),
              score,
              summary_text,
              cost,
              findings: explainedFindings({ ...settings, overrides }, findings ?? [], tickets),
            },
      history,
      open_tickets: state.open_tickets,
    };
  },
});

export const connectionRoutes: ConsoleRoute[] = [getConnection];

async function readState(run: Read, accountId: number, id: number) {
  const [state] = await run<StateRow>(selectState, [accountId, id]);
  if (!state) throw notFound();
  const recent = await run<{ at: Date; score: number; in_maintenance: boolean }>(selectRecent, [
    accountId,
    id,
  ]);
  const since = recent[0]?.at.toISOString() ?? '9999';
  const days = daysOf(state).filter(({ at }) => at < since);
  const checks = recent.map(({ at, ...check }) => ({ at: at.toISOString(), ...check, of_day: false }));
  const history = [...days, ...checks];
  const tickets = await run<TicketOfFinding>(selectTickets, [accountId, id]);
  return { state, history, tickets };
}

/** The last score of each day with a check, at the end of that day, oldest first. */
function daysOf({ last_day, scores }: StateRow): ConnectionDetail['history'] {
  if (last_day === null) return [];
  const end = Date.parse(`${last_day}T23:59:59Z`);
  const days = (scores ?? []).map((score, ago) => ({
    at: new Date(end - ago * 86_400_000).toISOString(),
    score,
  }));
  return days
    .flatMap(({ at, score }) => (score === null ? [] : [{ at, score, in_maintenance: false, of_day: true }]))
    .reverse();
}
