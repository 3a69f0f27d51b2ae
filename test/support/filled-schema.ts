import type pg from 'pg';

// Sample rows by the number of the migration that added their columns. Instants are fixed, so that stores that are filled
// with the same rows are equal.
const PARTS: readonly { since: number; sql: string }[] = [
  {
    since: 1,
    sql: `
      insert into account (name, kind, plan, requests_per_minute, created_at) values
        ('Acme', 'company', 'enterprise', 250, '2026-01-01Z'), ('Ada', 'individual', 'business', null, '2026-01-02Z');
      insert into api_key (account_id, name, hash, last_four, created_at, revoked_at)
        select a, 'key ' || n, sha256((a || ' ' || n)::bytea), 'abcd', '2026-01-01Z', case when n = 2 then timestamptz '2026-01-03Z' end
          from generate_series(1, 2) a, generate_series(1, 3) n order by a, n;
      insert into key_window (account_id, api_key_id, started_at, used) select account_id, api_key_id, '2026-01-04Z', 7 from api_key;
      insert into activity (account_id, id, occurred_at, action_type, page_path, request_id, api_key_id, status, method, query,
                            source_ip, user_agent, event_number, type_number, properties)
        select a, n, timestamptz '2026-01-01Z' + n * interval '1 min', type, '/api/v1/health/fleet',
               case when request then md5(a || ' ' || n)::uuid end, case when request then a * 3 end,
               case when request then 200 end, case when request then 'GET' end, case when request then jsonb '{"page": "1"}' end,
               case when request then inet '203.0.113.7' end, case when request then E'tab\\tand \\\\ and "' end,
               case when not request then 1 + n / 5 end,
               case when not request then 1 + n / 10 end,
               case when not request then jsonb_build_object('connection_id', a, 'score', n) end
          from generate_series(1, 2) a, generate_series(1, 400) n,
               lateral (select n % 5 <> 0 as request,
                               case when n % 5 <> 0 then 'api_request' when n % 10 = 0 then 'ticket_opened'
                                    else 'health_check_completed' end as type) t;
      update activity set event_number = id / 5, type_number = case when id % 10 = 0 then id / 10 else (id + 5) / 10 end
       where event_number is not null;
      insert into activity_head select account_id, max(id), max(occurred_at), count(event_number) from activity group by 1;
      insert into activity_type_head select account_id, action_type, count(*) from activity where event_number is not null group by 1, 2;
      insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, credential, created_at)
        select a, 'shop ' || n, 'postgres', 'direct', 'db' || n || '.example.com', 5432, 'shop', 'watcher', 'verify-full', '\\x0102', '2026-01-01Z'
          from generate_series(1, 2) a, generate_series(1, 4) n order by a, n;
      update connection set removed_at = '2026-01-20Z' where name = 'shop 4';
      insert into credential_key select account_id, '\\x0304' from account;
      insert into connection_schedule select account_id, connection_id, '5 min', '2026-03-01Z' from connection;
      insert into health_check (account_id, connection_id, score, summary_text, created_at, findings)
        select account_id, connection_id, 100 - (connection_id * 7 + n * 11) % 60, 'run ' || n,
               timestamptz '2026-01-02Z' + n * interval '19 h',
               jsonb_build_array(jsonb_build_object('check_id', 'PG_TEST', 'title', 'Test ' || n, 'severity', 'warning',
                 'status', case when n % 2 = 0 then 'warning' else 'ok' end, 'category', 'schema', 'metric_line', 'é', 'remediation', ''))
          from connection, generate_series(1, 12) n where name <> 'shop 3' order by n, connection_id;
      update connection c set latest_check_id = (select max(health_check_id) from health_check h where h.account_id = c.account_id and h.connection_id = c.connection_id);
      do $$
      declare t record;
      begin
        for t in select account_id, connection_id, n, timestamptz '2026-01-02Z' + n * interval '7 h' as seen
                   from connection, generate_series(1, 25) n order by n, connection_id loop
          insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line,
                              remediation, first_seen_at, last_seen_at, resolved_at, resolution)
          values (t.account_id, t.connection_id, 'PG_TEST', 'public.t' || t.n, 'schema', 'Test',
                  (array['critical', 'warning', 'info'])[1 + t.n % 3], case when t.n % 4 = 0 then 'open' else 'resolved' end,
                  'm', 'r', t.seen, t.seen + interval '1 h', case when t.n % 4 <> 0 then t.seen + interval '2 h' end,
                  case t.n % 4 when 1 then 'silenced: accepted_risk' when 0 then null else 'no longer found' end);
        end loop;
      end $$;
      insert into member (account_id, name, email, roles, status, joined_at)
        select account_id, 'Ada', 'ada@example.com', '{owner,auditor}', 'active', '2026-01-01Z' from account;`,
  },
  {
    since: 2,
    sql: `
      update connection set thresholds = '{"PG_TEST": {"share": 0.5}}', expected_standbys = 1 where name = 'shop 1';
      update health_check set cost = '{"milliseconds": 12, "statements": 40, "bytes": 1000}' where summary_text = 'run 12';
      insert into counter_sample select account_id, connection_id, 'PG_TEST', 'shop', '2026-01-09Z', '[{"n": 1}]' from connection;
      insert into silence (account_id, connection_id, check_id, reason, note, created_at)
        select account_id, connection_id, 'PG_TEST', 'wont_fix', 'later', '2026-01-09Z' from connection where name = 'shop 2';`,
  },
  {
    since: 4,
    sql: `
      delete from activity where id <= 60;
      insert into activity_floor (account_id, first_id, events, told_id) select account_id, 61, 12, 60 from account;
      update health_check set findings = null, cost = null where summary_text = 'run 1';`,
  },
  {
    since: 7,
    sql: `
      insert into seal_key select account_id, sha256('k'), '\\x05', '2026-01-09Z' from account;
      insert into activity_seal select account_id, 1, 1, 100, '2026-01-02Z', 0, sha256('l'), sha256('p'), sha256('k'), '2026-01-09Z',
                                       sha512('s') from account;
      insert into activity_leaves select account_id, 100, sha256('a') || sha256('b') from account;`,
  },
  {
    since: 8,
    sql: `
      do $$
      begin
        if exists (select from information_schema.columns where table_name = 'login' and column_name = 'account_id') then
          insert into login (account_id, email, name, password, created_at)
            select account_id, 'ada@example.com', 'Ada', 'x', '2026-01-09Z' from account order by account_id;
        else
          insert into login (email, name, password, created_at) values ('ada@example.com', 'Ada', 'x', '2026-01-09Z');
        end if;
      end $$;
      insert into passkey (credential_id, login_id, name, public_key, counter, created_at) values ('\\x01', 1, 'key', '\\x02', 3, '2026-01-09Z');
      update member m set login_id = (select l.login_id from login l order by to_jsonb(l) ->> 'account_id' = m.account_id::text desc nulls last limit 1);
      update api_key set note = 'of the collector', created_by = 1 where name = 'key 1';
      insert into key_hour select account_id, api_key_id, '2026-01-01Z', 50, 2, '203.0.113.7' from api_key;
      insert into key_counted select account_id, 400 from account;`,
  },
  {
    since: 14,
    sql: `
      insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, object, last_seen_at, grows)
        select account_id, connection_id, n, case when n < 3 then n end, case when n = 1 then '' else 'PG_TEST' end, 'used_ratio',
               'shop', case when n = 3 then 'public.é' end, '2026-03-01Z', n = 2
          from connection, generate_series(1, 3) n;
      insert into measure_run select account_id, connection_id, timestamptz '2026-03-01Z' + n * interval '5 min', array[0.1, n / 3.0, null]
        from connection, generate_series(0, 20) n;
      insert into measure_five_minutes select account_id, connection_id, n, '2026-02-27', '{NULL,0.1,7e-5}' from connection, generate_series(1, 3) n;
      insert into measure_latest select account_id, connection_id, '2026-03-01 01:40Z', '{1,2}', '{0.1,6.666666666666667}', '{NULL,>=}',
             '{NULL,0.8}', '{NULL,0.9}', '{NULL,1e300}', 4 from connection;
      insert into measure_hour select account_id, connection_id, n, '2026-02-28', null, '{NULL,2.5}', '{NULL,2.25}', '{NULL,2}'
        from connection, generate_series(1, 3) n;
      insert into measure_day select account_id, connection_id, n, '2026-02-01', '{1e-20}', '{3e38}', '{2}', '{2}'
        from connection, generate_series(1, 3) n;
      insert into measure_rolled select account_id, connection_id, '2026-03-01 01:00Z', '2026-03-01' from connection;
      insert into measure_forecast select account_id, connection_id, 2, '2026-03-01Z', 0.1, 0.05, 0.2, '2026-04-01Z', '2026-03-20Z', null
        from connection;`,
  },
  {
    since: 15,
    sql: `
      insert into connection_change (account_id, connection_id, at, kind, database, subject, before, after, source)
        select account_id, connection_id, timestamptz '2026-03-01Z' + n * interval '1 h', 'setting', 'shop', 'work_mem', '4MB', n || 'MB', 'file'
          from connection, generate_series(1, 3) n order by n, connection_id;
      insert into fact_snapshot (account_id, connection_id, kind, database, read_at, digest, facts)
        select account_id, connection_id, 'settings', 'shop', '2026-03-01Z', 'd', '{"work_mem": "4MB"}' from connection;
      insert into redaction_key (account_id, connection_id, encrypted)
        select account_id, connection_id, '\\x0607' from connection;`,
  },
  {
    since: 16,
    sql: `
      update ticket set measured = '{"metric": "used_ratio", "value": 0.95, "operator": ">=", "threshold": 0.9}' where ticket_id % 4 = 1;`,
  },
  {
    since: 17,
    // A store that was filled before has the rules from the migration.
    sql: `
      insert into alert_rule (account_id, name, preset, metric, operator, threshold, clear_threshold, for_runs, severity, reminder_seconds, created_at, for_seconds)
        select account_id, p.name, p.preset, p.metric, p.operator, p.threshold, p.clear_threshold, p.for_runs, p.severity, 43200, created_at, p.for_seconds
          from account,
               (values (1, 'Score below 50', 'score', 'score', '<', 50, 55, 2, 'critical', 0),
                       (2, 'Unreachable for 10 minutes', 'unreachable', 'unreachable_seconds', '>=', 600, null, 1, 'critical', 0),
                       (3, 'No check for three intervals', 'stale', 'intervals_since_check', '>', 3, null, 1, 'warning', 0))
                 as p (place, name, preset, metric, operator, threshold, clear_threshold, for_runs, severity, for_seconds)
         where not exists (select from alert_rule r where r.account_id = account.account_id)
         order by account_id, p.place;
      insert into destination (account_id, name, channel, target, settings, encrypted, kinds, state_since, created_at)
        select account_id, 'Pager', 'webhook', 'https://hooks.example.com', '{}', '\\x0506', '{alert.triggered}', '2026-01-09Z', '2026-01-09Z' from account order by account_id;
      insert into destination_queue (account_id, destination_id, epoch, last_sequence, queued, due_at, tokens_at)
        select account_id, destination_id, 'first', 1, 1, '2026-01-10Z', '2026-01-09Z' from destination;
      insert into destination_recipient select account_id, destination_id, 'ada@example.com', 'confirmed', '\\x07', '2026-01-09Z', '2026-01-09Z' from destination;
      insert into event select account_id, 'evt_' || account_id, 'alert.triggered', '2026-01-09Z', 'critical', null, null, null, '{}', '{}' from account;
      insert into delivery (account_id, destination_id, event_id, epoch, sequence, queued_at, due_at)
        select account_id, destination_id, 'evt_' || account_id, 'first', 1, '2026-01-09Z', '2026-01-10Z' from destination order by 1;
      insert into delivery_message (account_id, destination_id, made_at, content_type, body)
        select account_id, destination_id, '2026-01-09Z', 'application/json', '{}' from destination order by 1;
      insert into delivery_attempt select account_id, destination_id, delivery_id, 1, '2026-01-09Z', 12, 500, '500', '{}', '' from delivery;
      insert into alert (account_id, rule_id, connection_id, state, since, metric, operator, threshold, value, details, severity)
        select r.account_id, r.rule_id, c.connection_id, 'pending', '2026-01-09Z', 'score', '<', 50, 41, '{}', 'critical'
          from alert_rule r join connection c using (account_id) where r.preset = 'score' and c.name = 'shop 1' order by 1;
      insert into maintenance (account_id, name, starts_at, ends_at, created_by, created_at)
        select account_id, 'Move', '2026-01-09Z', '2026-01-10Z', 'Ada', '2026-01-08Z' from account order by 1;`,
  },
  {
    since: 19,
    sql: `
      insert into query_hour (account_id, connection_id, hour, all_calls, all_seconds, query, database, role, calls, seconds, rows, read, hit, temporary)
        select account_id, connection_id, timestamptz '2026-03-01Z' + n * interval '1 h', 40, 2.5, '{-4711,815}', '{shop,""}', '{"é",""}',
               '{30,10}', '{2,0.5}', '{30,1e15}', '{1,0}', '{300,7}', '{8192,0}'
          from connection, generate_series(1, 3) n;
      insert into query_state select account_id, connection_id, '2026-03-01Z', '\\x789c', '{"days": 3, "isCut": false, "queries": []}', '2026-03-01Z'
        from connection;
      insert into query_text select account_id, connection_id, '-4711', 'select $1', '2026-03-01Z' from connection;
      update connection set query_texts = true where name = 'shop 1';`,
  },
  {
    since: 21,
    sql: `
      insert into connection_tags select account_id, connection_id, '{env:production,team:é}' from connection where name = 'shop 1';`,
  },
  {
    since: 22,
    sql: `
      insert into saved_view (account_id, page, name, query, member_id, created_by, created_at)
        select account_id, 'fleet', 'Mine', 'q=%C3%A9', min(member_id), 'Ada', '2026-01-09Z' from member group by 1 order by 1;`,
  },
  {
    since: 23,
    sql: `
      insert into ticket_triage (account_id, ticket_id, version, changed_at, changed_by, assignee_id, assigned_by, acknowledged_at,
                                 acknowledged_until, acknowledged_by, acknowledged_severity, before)
        select t.account_id, t.ticket_id, 2, '2026-01-20Z', 'Ada', m.member_id, 'Ada', '2026-01-20Z',
               case when t.ticket_id % 8 = 0 then timestamptz '2026-02-01Z' end, 'Ada', 'info', '{"assignee_id": null}'
          from ticket t join member m using (account_id) where t.status = 'open' and m.name = 'Ada';
      update silence set created_by = 'Ada' where note like 'a%';`,
  },
  {
    since: 24,
    sql: `
      update api_key set scopes = '{health,ops}', allowed_addresses = '{203.0.113.0/24,2001:db8::7}' where name = 'key 1';
      insert into key_day select account_id, api_key_id, '2026-01-01', '/health/fleet', 200, 50 from api_key;`,
  },
  {
    since: 25,
    sql: `
      insert into ticket_comment (account_id, ticket_id, author_id, author, body, mentions, created_at)
        select m.account_id, min(t.ticket_id), m.member_id, 'Ada', E'Seen by @Ada:\\n\\té', array[m.member_id], '2026-01-20Z'
          from member m join ticket t using (account_id) where m.name = 'Ada' group by 1, 3 order by 1;`,
  },
  {
    since: 26,
    sql: `
      insert into connection_version select account_id, connection_id, 180004, '2026-01-20Z' from connection where name = 'shop 1';`,
  },
  {
    since: 27,
    sql: `
      insert into threshold (account_id, tag, check_id, name, value, changed_at, changed_by)
        select account_id, tag, 'PG_CONN_SATURATION', 'warning', 0.7, '2026-01-21Z', 'Ada'
          from account, unnest(array['', 'env:production', 'team:é']) tag;`,
  },
  { since: 28, sql: `update api_key set expiry_reminders = 2 where name = 'key 1';` },
  {
    since: 30,
    sql: `
      insert into onboarding (account_id, member_id, finding_read_at, dismissed_at)
        select account_id, member_id, '2026-01-05Z', case when name = 'Ada' then timestamptz '2026-01-06Z' end from member;`,
  },
  {
    since: 33,
    sql: `
      insert into cell values (1);
      insert into directory_account (account_id, cell_id, state)
        select account_id, 1, case when name = 'one' then 'here' else 'moving' end from account;
      insert into directory_key (hash, account_id) select hash, account_id from api_key;`,
  },
  {
    since: 34,
    sql: `
      insert into account_move (account_id, move_id, other_cell, state, since, started_at, head, windows)
        values (77, '0190b0a0-0000-7000-8000-000000000001', 2, 'moving', '7', '2026-01-22Z', '{"last_id": 3}', '[{"used": 1}]');`,
  },
  {
    since: 41,
    sql: `
      insert into blocking_episode
        select account_id, connection_id, '2026-03-01Z', '4711/1772323200.5', '2026-03-01T00:01:00Z', '2026-03-01T00:01:00Z', 'shop', 'bob', 'psql é',
               3, 60, 170.5, '[{"at": "2026-03-01T00:00:10.000Z", "root": null, "waits": [], "sessions": 3}]'
          from connection;`,
  },
  {
    since: 42,
    sql: `
      insert into session_load_source
        select account_id, connection_id, 4503599627370495, 'active', 'IO', 'DataFileRead', '-42', 'bob', 'psql é', 'shop', '2026-03-01Z'
          from connection;
      insert into session_load
        select account_id, connection_id, '2026-03-01Z', 1, 2.5, 0, 0, 0, 12.5, null, null, '{4503599627370495}', '{2.25}'
          from connection;`,
  },
  {
    since: 48,
    sql: `
      insert into deadlock
        select account_id, connection_id, '2026-03-01Z', '[{"digest": "ab", "command": "UPDATE", "tables": ["shop.orders é"], "is_victim": true}]'
          from connection;`,
  },
  {
    since: 51,
    sql: `
      insert into log_stream (account_id, destination_id, format, next_id, scanned_id, due_at)
        select account_id, destination_id, 'native', 1, 0, '2026-03-01Z' from destination;`,
  },
  {
    since: 52,
    sql: `
      update connection set backup_expected_seconds = 93600, backup_expected_since = '2026-03-01Z' where name = 'shop 1';
      insert into backup_heartbeat
        select account_id, connection_id, sha256(connection_id::text::bytea), '2026-03-01Z', null, '2026-03-02Z' from connection;
      insert into backup_report
        select account_id, connection_id, 'pgbackrest', '2026-03-02Z', '20260301-230000F', true, '2026-03-01T23:00:00Z', 4294967296
          from connection;`,
  },
  {
    since: 53,
    sql: `
      insert into own_check
        select account_id, 'ORDERS_' || n, 'Orders é', 'postgres', case n when 1 then 'shop' end, 'select 1 as value', 'count', '>=', 10,
               case n when 1 then 0.1 end, 'Line' || chr(10) || 'two', case n when 2 then 300 end, 5, '{env:production,shop}', '2026-03-01Z', 'Ada'
          from account, generate_series(1, 2) n;`,
  },
  {
    since: 54,
    sql: `
      insert into collector (account_id, name, public_key, version, created_at, enrolled_at, last_contact_at, nonces)
        select account_id, 'frankfurt é', sha256('key'), '0.1.0', '2026-03-01Z', '2026-03-01Z', '2026-03-02Z', '{1772323200000000}'
          from account order by account_id;
      insert into collected_connection
        select c.account_id, c.connection_id, o.collector_id, c.name from connection c join collector o using (account_id) where c.name = 'shop 3';`,
  },
  {
    since: 56,
    sql: `
      update destination set digest = '{"every": "mon", "at": "07:00", "time_zone": "Europe/Berlin"}';
      update destination_queue set digest_due_at = '2026-03-09T06:00:00Z';`,
  },
  {
    since: 58,
    sql: `
      update collected_connection set past_at_ms = 1772323200000, judged_at_ms = '{1772323200001}', look_until = '2026-03-01Z';
      update collector set buffered = 3, buffered_seconds = 60, returned_at = '2026-03-02Z';`,
  },
  {
    since: 59,
    sql: `
      update query_state set catalogue = '{a1,b2}';`,
  },
];

/** Fills a store at migration `has` with its sample rows, except those that a store at migration `had` already has. */
export async function fillSchema(client: pg.ClientBase, had: number, has: number): Promise<void> {
  for (const { since, sql } of PARTS) if (since > had && since <= has) await client.query(sql);
}

const selectTables = `
  select relname as name from pg_class
   where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'migration' order by 1`;

/** What a migration gives rows that were there before, and a trigger gives later ones: times and numbers of changes. */
const DIFFERING: Readonly<Record<string, string>> = { ticket_update: ` - 'number' - 'updated_at'` };

/** All rows of a store by table, without the columns that only count changes. */
export async function everyRow(client: pg.ClientBase): Promise<Record<string, string[]>> {
  const { rows: tables } = await client.query<{ name: string }>(selectTables);
  const all: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(
      `select (to_jsonb(t) - 'generation' - 'version'${DIFFERING[name] ?? ''})::text as row from ${name} t order by 1`,
    );
    all[name] = rows.map(({ row }) => row);
  }
  return all;
}
