-- The console reads as a role of its own, which sees one account, or one person, and neither a secret nor its hash.
-- Takes 3.1 µs a row of connection.
-- Takes 3.8 µs a row of login.

-- As in 0001: roles belong to the whole server, so it may exist already.
do $$
declare
  may_act text := case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end;
begin
  if not exists (select from pg_roles where rolname = 'dbvitals_console') then
    begin
      create role dbvitals_console nologin;
    exception when duplicate_object or unique_violation then null;  -- another store's migration was quicker
    end;
  end if;
  if not pg_has_role(current_user, 'dbvitals_console', may_act) then
    execute format('grant dbvitals_console to %I', current_user);
  end if;
  execute format('grant usage on schema %I to dbvitals_console', current_schema());
end $$;

-- Second wall, by account: where the reader sees its account's rows, so does the console. In the order in which the gate takes the tables.
do $$
declare
  tenant text;
begin
  for tenant in
    select tablename from pg_policies where schemaname = current_schema() and policyname = 'own_account'
     order by array_position(array['api_key', 'account', 'activity_head', 'key_window', 'activity'], tablename::text)
  loop
    execute format('alter policy own_account on %I to dbvitals_reader, dbvitals_console', tenant);
  end loop;
end $$;

-- The console shows whether there is a secret, so it need not read one. An empty password, which vouches for the settings alone, is
-- 29 bytes when encrypted: version, nonce and tag.
alter table connection
  add column has_credential boolean not null generated always as (coalesce(octet_length(credential) > 29, false)) stored,
  add column has_ssh_credential boolean not null generated always as (ssh_credential is not null) stored;
alter table login
  add column has_password boolean not null generated always as (password is not null) stored;

-- And by person, set instead of an account: a login, its passkeys and sessions, its members, and the accounts of both.
do $$
declare
  personal text;
begin
  foreach personal in array array['login', 'passkey', 'session'] loop
    execute format('alter table %I enable row level security', personal);
    execute format('alter table %I force row level security', personal);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', personal);
  end loop;
  foreach personal in array array['login', 'passkey', 'session', 'member'] loop
    execute format($policy$create policy own_login on %I for select to dbvitals_console
      using (login_id = nullif(current_setting('dbvitals.login_id', true), '')::bigint)$policy$, personal);
  end loop;
end $$;
create policy own_login on account for select to dbvitals_console using (
  account_id in (select m.account_id from member m
                  where m.login_id = nullif(current_setting('dbvitals.login_id', true), '')::bigint
                  union all
                 select s.account_id from session s
                  where s.login_id = nullif(current_setting('dbvitals.login_id', true), '')::bigint));

-- What the reader may see, and what only the console shows: never a hash, a token, a password, a key or a passkey's key.
grant select on account, activity, activity_floor, activity_head, activity_leaves, activity_seal, activity_type_head,
  connection_trend, health_check, key_counted, key_hour, key_window, member, silence, ticket, ticket_tally, ticket_week
  to dbvitals_console;
grant select (account_id, api_key_id, name, note, last_four, created_at, created_by, expires_at, revoked_at, replaced_by,
  valid_until) on api_key to dbvitals_console;
grant select (account_id, connection_id, name, engine, connection_type, host, port, database, username, tls,
  has_credential, password_exposable, ca_certificate, ssh_host, ssh_port, ssh_username, has_ssh_credential, ssh_host_key,
  thresholds, expected_standbys, latest_check_id, latest_score, created_at, removed_at, version)
  on connection to dbvitals_console;
grant select (account_id, connection_id, every, due_at, claimed_until) on connection_schedule to dbvitals_console;
grant select (account_id, purpose, member_id, created_by, created_at, expires_at, used_at) on link to dbvitals_console;
grant select (login_id, email, name, has_password, oidc_issuer, oidc_subject, created_at) on login to dbvitals_console;
grant select (credential_id, login_id, name, transports, created_at, last_used_at) on passkey to dbvitals_console;
grant select (session_id, login_id, account_id, created_at, last_seen_at, expires_at, source_ip, user_agent)
  on session to dbvitals_console;
