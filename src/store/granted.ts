import type pg from 'pg';

/** The privileges of each role, as in GRANT. A role has no privilege on a table that is not listed. */
export const GRANTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // The role that answers requests. It changes nothing, and sees no hash of a key and no credential.
  dbvitals_reader: {
    account: 'select',
    activity: 'select',
    activity_floor: 'select',
    activity_head: 'select',
    activity_seal: 'select',
    activity_type_head: 'select',
    alert: 'select',
    alert_rule: 'select (account_id, rule_id, name, metric)',
    api_key: 'select (account_id, api_key_id, name)',
    blocking_episode: 'select',
    connection:
      'select (account_id, connection_id, name, engine, connection_type, host, port, latest_check_id, removed_at, latest_score, provider)',
    connection_change: 'select',
    connection_schedule: 'select (account_id, connection_id, every, due_at, claimed_until)',
    connection_tags: 'select',
    connection_trend: 'select',
    connection_version: 'select',
    deadlock: 'select',
    health_check: 'select',
    measure_day: 'select',
    measure_five_minutes: 'select',
    measure_forecast: 'select',
    measure_hour: 'select',
    measure_latest: 'select',
    measure_run: 'select',
    measure_series: 'select',
    member: 'select',
    query_hour: 'select',
    silence: 'select',
    ticket: 'select',
    ticket_tally: 'select',
    ticket_triage: 'select',
    ticket_update: 'select',
    ticket_week: 'select',
  },
  // The role that reads for the console's pages: one account or one person at a time, and no hash, token, password or key.
  dbvitals_console: {
    account: 'select',
    activity: 'select',
    activity_floor: 'select',
    activity_head: 'select',
    activity_leaves: 'select',
    activity_seal: 'select',
    activity_type_head: 'select',
    alert: 'select',
    alert_rule: 'select',
    api_key:
      'select (account_id, api_key_id, name, last_four, created_at, expires_at, revoked_at, replaced_by, valid_until, note, created_by, scopes, allowed_addresses, version)',
    backup_heartbeat: 'select (account_id, connection_id, created_at, called_at)',
    backup_report: 'select',
    blocking_episode: 'select',
    collected_connection: 'select',
    collector:
      'select (account_id, collector_id, name, public_key, version, created_at, enrolled_at, last_contact_at, revoked_at, silent_at, token_expires_at, buffered, buffered_seconds)',
    connection:
      'select (account_id, connection_id, name, engine, connection_type, host, port, database, username, tls, latest_check_id, created_at, removed_at, thresholds, expected_standbys, password_exposable, ca_certificate, ssh_host, ssh_port, ssh_username, ssh_host_key, latest_score, version, has_credential, has_ssh_credential, provider, token_source, query_texts, pulse_seconds, backup_expected_seconds, backup_expected_since)',
    connection_change: 'select',
    connection_schedule: 'select (account_id, connection_id, every, due_at, claimed_until)',
    connection_tags: 'select',
    connection_trend: 'select',
    connection_version: 'select',
    deadlock: 'select',
    delivery: 'select',
    delivery_attempt: 'select',
    delivery_message: 'select',
    destination:
      'select (account_id, destination_id, name, channel, target, settings, kinds, minimum_severity, connection_ids, connection_names, requests_per_second, quiet_hours, state, state_reason, state_since, created_at, removed_at, digest)',
    destination_queue: 'select',
    destination_recipient:
      'select (account_id, destination_id, email, state, asked_at, confirmed_at, removed_at)',
    event: 'select',
    fact_snapshot: 'select',
    health_check: 'select',
    key_counted: 'select',
    key_day: 'select',
    key_hour: 'select',
    key_window: 'select',
    link: 'select (account_id, purpose, member_id, created_by, created_at, expires_at, used_at)',
    login: 'select (login_id, email, name, oidc_issuer, oidc_subject, created_at, has_password, account_id)',
    log_stream: 'select',
    maintenance: 'select',
    measure_day: 'select',
    measure_five_minutes: 'select',
    measure_forecast: 'select',
    measure_hour: 'select',
    measure_latest: 'select',
    measure_run: 'select',
    measure_series: 'select',
    member: 'select',
    onboarding: 'select',
    own_check: 'select',
    passkey: 'select (credential_id, login_id, name, transports, created_at, last_used_at)',
    query_hour: 'select',
    query_state: 'select (account_id, connection_id, catalogue)',
    saved_view: 'select',
    session:
      'select (session_id, login_id, account_id, created_at, last_seen_at, expires_at, source_ip, user_agent, proved_at, proved_email)',
    session_load: 'select',
    session_load_source: 'select',
    silence: 'select',
    threshold: 'select',
    ticket: 'select',
    ticket_comment: 'select',
    ticket_tally: 'select',
    ticket_triage: 'select',
    ticket_week: 'select',
  },
  // The role of the gate, the monitor, the console and the commands. It can't change the log, the seals and past health checks.
  dbvitals_writer: {
    account: 'select, insert, update',
    account_move: 'select',
    activity: 'select, insert',
    activity_floor: 'select',
    activity_head: 'select, insert, update',
    activity_leaves: 'select',
    activity_seal: 'select',
    activity_type_head: 'select, insert, update',
    alert: 'select, insert, update, delete',
    alert_rule: 'select, insert, update, delete',
    api_key: 'select, insert, update',
    asked_inbox: 'select, insert',
    backup_heartbeat: 'select, insert, update, delete',
    backup_report: 'select, insert, update, delete',
    blocking_episode: 'select, insert, update, delete',
    cell: 'select',
    challenge: 'insert',
    collected_connection: 'select, insert, update, delete',
    collector: 'select, insert, update, delete',
    connection: 'select, insert, update',
    connection_change: 'select, insert, update, delete',
    connection_schedule: 'select, insert, update',
    connection_tags: 'select, insert, update, delete',
    connection_trend: 'select, insert, update',
    connection_version: 'select, insert, update',
    counter_sample: 'select, insert, update, delete',
    credential_key: 'select, insert, update',
    deadlock: 'select, insert, update, delete',
    delivery: 'select, insert, update, delete',
    delivery_attempt: 'select, insert, update, delete',
    delivery_message: 'select, insert, update, delete',
    destination: 'select, insert, update, delete',
    destination_queue: 'select, insert, update, delete',
    destination_recipient: 'select, insert, update, delete',
    directory_account: 'select, insert, update',
    directory_key: 'select, insert',
    event: 'select, insert, update, delete',
    fact_snapshot: 'select, insert, update, delete',
    health_check: 'select, insert',
    key_counted: 'select, insert, update',
    key_day: 'select, insert, update',
    key_hour: 'select, insert, update',
    key_window: 'select, insert, update',
    last_backup: 'select',
    link: 'select, insert, update (used_at)',
    login: 'select, insert, update, delete',
    log_stream: 'select, insert, update, delete',
    maintenance: 'select, insert, update, delete',
    measure_day: 'select, insert, update, delete',
    measure_five_minutes: 'select, insert, update, delete',
    measure_forecast: 'select, insert, update, delete',
    measure_hour: 'select, insert, update, delete',
    measure_latest: 'select, insert, update, delete',
    measure_rolled: 'select, insert, update, delete',
    measure_run: 'select, insert, update, delete',
    measure_series: 'select, insert, update, delete',
    member: 'select, insert, update, delete',
    onboarding: 'select, insert, update',
    own_check: 'select, insert, update, delete',
    passkey: 'select, insert, update (name, counter, last_used_at), delete',
    pulse_monitor: 'select, insert, update, delete',
    query_hour: 'select, insert, update, delete',
    query_state: 'select, insert, update, delete',
    query_text: 'select, insert, update, delete',
    redaction_key: 'select, insert, update, delete',
    refused_key: 'select, insert, update, delete',
    saved_view: 'select, insert, update, delete',
    session: 'select, insert, update (token_hash, account_id, last_seen_at, proved_at), delete',
    sign_in_failure: 'select, insert, delete',
    session_load: 'select, insert, update, delete',
    session_load_source: 'select, insert, update, delete',
    silence: 'select, insert, update',
    threshold: 'select, insert, update, delete',
    ticket:
      'select, insert, update (category, title, severity, status, metric_line, remediation, last_seen_at, resolved_at, resolution, clean_runs, reopened_at, measured)',
    ticket_comment: 'select, insert, delete',
    ticket_tally: 'select, insert, update',
    ticket_triage: 'select, insert, update',
    ticket_update: 'select, insert, update',
    ticket_week: 'select, insert, update',
    unsubscribed: 'select, insert, update',
  },
};

/** One privilege on one table. */
export interface Privilege {
  role: string;
  table: string;
  /** In lower case, such as select. */
  what: string;
  /** Whether the role has it on the whole table. */
  whole: boolean;
  /** The columns with and without the privilege; null = none. */
  granted: string[] | null;
  refused: string[] | null;
}

// Reads the catalog instead of information_schema, because privileges of PUBLIC count too.
export const selectPrivileges = `
  select r.role, c.relname as table, p.what, has_table_privilege(r.role, c.oid, p.what) as whole,
         array_agg(a.attname::text order by a.attnum) filter (where may) as granted,
         array_agg(a.attname::text order by a.attnum) filter (where not may) as refused
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
   cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger'])
         with ordinality p (what, place)
   cross join unnest($1::text[]) r (role)
   cross join lateral (select case when p.what in ('select', 'insert', 'update', 'references')
                                   then has_column_privilege(r.role, c.oid, a.attnum, p.what)
                                   else has_table_privilege(r.role, c.oid, p.what) end as may) m
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
   group by r.role, c.oid, c.relname, p.what, p.place
   order by r.role, c.relname, p.place`;

const selectUsage = `
  select r.role from unnest($1::text[]) r (role)
   where not has_schema_privilege(r.role, 'public', 'usage')`;

/** How a store's privileges differ from {@link GRANTED}, as the statements that fix them. */
export interface PrivilegeDifference {
  lacking: string[];
  excess: string[];
}

/** Compares the privileges of each role with the required ones. The schema must be up to date and every role must exist. */
export async function comparePrivileges(owner: pg.Pool): Promise<PrivilegeDifference> {
  const roles = Object.keys(GRANTED);
  const { rows } = await owner.query<Privilege>(selectPrivileges, [roles]);
  const { rows: shut } = await owner.query<{ role: string }>(selectUsage, [roles]);
  const lacking = shut.map(({ role }) => `grant usage on schema public to ${role};`);
  const excess: string[] = [];
  for (const { role, table, what, whole, granted, refused } of rows) {
    const needed = neededColumns(GRANTED[role]?.[table] ?? '', what);
    const isNeeded = (column: string) => needed === 'all' || needed.includes(column);
    const named = (columns: readonly string[]) => `${what} (${columns.join(', ')})`;
    const missing = (refused ?? []).filter(isNeeded);
    const beyond = (granted ?? []).filter((column) => !isNeeded(column));
    if (missing.length > 0)
      lacking.push(`grant ${needed === 'all' ? what : named(missing)} on ${table} to ${role};`);
    if (beyond.length > 0) {
      // Revoking the privilege on the table also revokes it on its columns.
      const back = whole && needed.length > 0 ? ` grant ${named([...needed])} on ${table} to ${role};` : '';
      excess.push(`revoke ${whole ? what : named(beyond)} on ${table} from ${role};${back}`);
    }
  }
  return { lacking, excess };
}

/** The columns of a privilege in a list such as "select (id, name), insert"; `all` if it lists none. */
function neededColumns(list: string, what: string): readonly string[] | 'all' {
  const [, found, columns] = new RegExp(`(?:^|, )(${what})(?: \\(([^)]*)\\))?(?:,|$)`).exec(list) ?? [];
  if (found === undefined) return [];
  return columns === undefined ? 'all' : columns.split(', ');
}
