-- The store of dbvitals. Every tenant table's primary key begins with account_id, so that the store can be
-- spread by account over a distributed PostgreSQL without a change of schema.

-- Roles are of the whole server, so they may exist already (another database of it may hold a store too).
-- Whoever runs the migrations is the owner and may act as both.
do $$
declare
  role_name text;
  may_act   text := case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end;
begin
  foreach role_name in array array['dbvitals_writer', 'dbvitals_reader'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin', role_name);
      exception when duplicate_object or unique_violation then null;  -- another store's migration was quicker
      end;
    end if;
    if not pg_has_role(current_user, role_name, may_act) then
      execute format('grant %I to %I', role_name, current_user);
    end if;
  end loop;
end $$;

-- The embedded store watches itself by a role of its own; with pg_monitor alone it would not see the sequences.
do $$
begin
  if exists (select from pg_roles where rolname = 'dbvitals_monitor') then
    alter default privileges grant select on sequences to dbvitals_monitor;
    grant select on all sequences in schema public to dbvitals_monitor;  -- of the table of migrations
  end if;
end $$;

create table account (
  account_id          bigint generated always as identity primary key,
  name                text not null check (name <> ''),
  kind                text not null check (kind in ('company', 'individual')),
  plan                text not null check (plan in ('individual', 'team', 'business', 'enterprise')),
  requests_per_minute integer check (requests_per_minute between 1 and 100000),
  -- requests a minute of one key; 0 = no API access (specification, section 8)
  request_limit       integer not null generated always as (
    case plan when 'enterprise' then coalesce(requests_per_minute, 100)
              when 'business' then 60
              when 'team' then 30
              else 0 end) stored,
  generation          bigint not null default 1,  -- raised by triggers, see below
  created_at          timestamptz not null default clock_timestamp()
);

create table api_key (
  account_id  bigint not null references account,
  api_key_id  bigint generated always as identity,
  name        text not null check (name <> ''),
  hash        bytea not null check (octet_length(hash) = 32),  -- SHA-256 of the key; the key itself is kept nowhere
  last_four   text not null check (length(last_four) = 4),
  created_at  timestamptz not null,
  expires_at  timestamptz,
  revoked_at  timestamptz,                                     -- may lie ahead: regenerated with an overlap
  replaced_by bigint,
  valid_until timestamptz not null
    generated always as (coalesce(least(expires_at, revoked_at), timestamptz 'infinity')) stored,
  primary key (account_id, api_key_id)
);
create index api_key_hash on api_key (hash);
create index api_key_id on api_key (api_key_id);

-- The two hot rows that every recorded request updates: narrow, and half of each page kept free, so that the
-- new version stays on its page (heap-only update, no index write).
create table key_window (
  account_id   bigint not null,
  api_key_id   bigint not null,
  started_at   timestamptz,          -- the running window's first request; it ends 60 s later
  used         integer not null default 0,
  last_used_at timestamptz,
  primary key (account_id, api_key_id),
  foreign key (account_id, api_key_id) references api_key
) with (fillfactor = 50);

create table activity_head (
  account_id bigint primary key references account,
  last_id    bigint not null default 0,
  last_at    timestamptz not null default '-infinity',
  events     bigint not null default 0   -- how many of the entries are not API requests
) with (fillfactor = 50);

-- The log. id is gapless within an account and occurred_at strictly increases with it, so a position is
-- arithmetic on ids and an instant is found by bisection: the primary key is the only index that an API
-- request's entry pays for. The others index the rest, which is rare, by its place among its kind.
create table activity (
  account_id   bigint not null,
  id           bigint not null,
  occurred_at  timestamptz not null,
  action_type  text not null,
  page_path    text not null,
  -- of an API request
  request_id   uuid,
  api_key_id   bigint,
  status       smallint,
  method       text,
  error_code   text,
  query        jsonb,
  source_ip    inet,
  user_agent   text,
  -- of every other entry
  event_number bigint,   -- 1, 2, 3 … among the account's entries that are not API requests
  type_number  bigint,   -- 1, 2, 3 … among those of the same action_type
  properties   jsonb,
  primary key (account_id, id)
);
create index activity_event on activity (account_id, id) include (event_number)
  where event_number is not null;
create index activity_requests_before on activity (account_id, (id - event_number), event_number)
  where event_number is not null;
create index activity_type_id on activity (account_id, action_type, id) include (type_number)
  where event_number is not null;
create index activity_type_number on activity (account_id, action_type, type_number)
  where event_number is not null;

create table activity_type_head (
  account_id  bigint not null references account,
  action_type text not null,
  last_number bigint not null,
  primary key (account_id, action_type)
);

-- Smallest id of the account's log whose entry occurred at or after the instant; one past the last when none did.
create function activity_id_at(account bigint, instant timestamptz) returns bigint
language plpgsql stable parallel safe as $$
declare
  low    bigint;
  high   bigint;
  middle bigint;
  seen   timestamptz;
begin
  select last_id + 1 into high from activity_head where account_id = account;
  select min(id) into low from activity where account_id = account;
  if low is null then return coalesce(high, 1); end if;
  while low < high loop
    middle := (low + high) / 2;
    select occurred_at into seen from activity where account_id = account and id = middle;
    if seen < instant then low := middle + 1; else high := middle; end if;
  end loop;
  return low;
end $$;

create table connection (
  account_id      bigint not null references account,
  connection_id   bigint generated always as identity,
  name            text not null check (name <> ''),
  engine          text not null check (engine in ('postgres', 'mysql', 'mariadb')),
  connection_type text not null check (connection_type in ('direct', 'ssh_tunnel', 'unix_socket')),
  host            text not null,          -- the folder of the socket for unix_socket
  port            integer not null check (port between 1 and 65535),
  database        text not null,
  username        text not null,
  tls             text not null check (tls in ('verify-full', 'require', 'disable')),
  credential      bytea,                  -- the password, sealed (monitor/credentials.ts); null = none
  latest_check_id bigint,
  created_at      timestamptz not null,
  removed_at      timestamptz,
  primary key (account_id, connection_id)
);
create index connection_id on connection (connection_id);

-- The key that seals an account's credentials, itself sealed by DBVITALS_SECRET_KEY.
create table credential_key (
  account_id bigint primary key references account,
  sealed     bytea not null
);

-- When a connection is due and who runs it. Apart from connection, so that a claim changes no generation.
create table connection_schedule (
  account_id    bigint not null,
  connection_id bigint not null,
  every         interval not null check (every >= interval '10 s'),
  due_at        timestamptz not null,
  claimed_by    uuid,
  claimed_until timestamptz,
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
);
create index connection_schedule_due on connection_schedule (due_at);

create table health_check (
  account_id      bigint not null,
  health_check_id bigint generated always as identity,
  connection_id   bigint not null,
  score           integer not null check (score between 0 and 100),
  summary_text    text not null,
  created_at      timestamptz not null,
  findings        jsonb not null,         -- as the specification's section 2.3 lists them, worst first
  primary key (account_id, health_check_id),
  foreign key (account_id, connection_id) references connection
);
create index health_check_connection on health_check (account_id, connection_id, health_check_id);

create table ticket (
  account_id        bigint not null,
  ticket_id         bigint generated always as identity,
  connection_id     bigint not null,
  check_id          text not null,
  database          text not null default '',  -- '' = the whole server
  object            text,
  category          text not null,
  title             text not null,
  severity          text not null check (severity in ('critical', 'warning', 'info')),
  status            text not null check (status in ('open', 'resolved')),
  metric_line       text not null,
  remediation       text not null,
  first_seen_at     timestamptz not null,
  last_seen_at      timestamptz not null,
  resolved_at       timestamptz,
  resolution        text,                       -- why it was resolved
  clean_runs        integer not null default 0, -- runs in a row that found the object well clear of the threshold
  reopened_at       timestamptz[] not null default '{}',
  primary key (account_id, ticket_id),
  foreign key (account_id, connection_id) references connection,
  check ((status = 'resolved') = (resolved_at is not null))
);
create unique index ticket_open on ticket (account_id, connection_id, check_id, database, coalesce(object, ''))
  where status = 'open';
create index ticket_first_seen on ticket (account_id, first_seen_at desc, ticket_id desc);
create index ticket_connection on ticket (account_id, connection_id, first_seen_at desc, ticket_id desc);
create index ticket_resolved on ticket (account_id, resolved_at) where status = 'resolved';

create table member (
  account_id     bigint not null references account,
  member_id      bigint generated always as identity,
  name           text not null check (name <> ''),
  email          text not null,
  roles          text[] not null check (cardinality(roles) > 0),
  status         text not null check (status in ('active', 'invited', 'suspended')),
  joined_at      timestamptz not null,
  last_active_at timestamptz,
  primary key (account_id, member_id)
);
create unique index member_email on member (account_id, lower(email));
create index member_id on member (member_id);

-- Generations: a kept answer is good for as long as its account's generation stands.
create function raise_generation() returns trigger language plpgsql as $$
begin
  update account a set generation = a.generation + 1
    from (select distinct account_id from changed) c
   where a.account_id = c.account_id;
  return null;
end $$;

do $$
declare
  shown text;
begin
  foreach shown in array array['api_key', 'connection', 'health_check', 'ticket', 'member'] loop
    execute format('create trigger raise_generation_insert after insert on %I
      referencing new table as changed for each statement execute function raise_generation()', shown);
    execute format('create trigger raise_generation_update after update on %I
      referencing new table as changed for each statement execute function raise_generation()', shown);
    execute format('create trigger raise_generation_delete after delete on %I
      referencing old table as changed for each statement execute function raise_generation()', shown);
  end loop;
end $$;

create function raise_own_generation() returns trigger language plpgsql as $$
begin
  new.generation := old.generation + 1;
  return new;
end $$;
create trigger raise_own_generation before update of name, kind, plan, requests_per_minute on account
  for each row execute function raise_own_generation();

-- Second wall: the reader sees the rows of the account it was set to, and none when it was set to none.
do $$
declare
  tenant text;
begin
  foreach tenant in array array[
    'account', 'api_key', 'key_window', 'activity_head', 'activity', 'activity_type_head', 'connection',
    'credential_key', 'connection_schedule', 'health_check', 'ticket', 'member'
  ] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;

-- Least privilege. The log is append-only for the service; the reader never sees a key's hash or a credential.
do $$
begin
  execute format('grant usage on schema %I to dbvitals_writer, dbvitals_reader', current_schema());
end $$;
grant select, insert, update on account, api_key, key_window, activity_head, activity_type_head, connection,
  credential_key, connection_schedule, ticket to dbvitals_writer;
grant select, insert on activity, health_check to dbvitals_writer;
grant select, insert, update, delete on member to dbvitals_writer;
grant select on account, activity_head, activity, activity_type_head, health_check, ticket, member to dbvitals_reader;
grant select (account_id, api_key_id, name) on api_key to dbvitals_reader;
grant select (account_id, connection_id, name, engine, connection_type, host, port, latest_check_id, removed_at)
  on connection to dbvitals_reader;
