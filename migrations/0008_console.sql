-- The console: who signs in, their sessions and one-time links, and what its pages count.

-- Who can sign in. Belongs to no account: a login acts in each account that has a member of it.
create table login (
  login_id     bigint generated always as identity primary key,
  email        text not null check (email <> ''),
  name         text not null check (name <> ''),
  password     text,                       -- argon2id, as a PHC string; null = passkeys or single sign-on only
  oidc_issuer  text,
  oidc_subject text,
  created_at   timestamptz not null default clock_timestamp(),
  check ((oidc_issuer is null) = (oidc_subject is null))
);
create unique index login_email on login (lower(email));
create unique index login_oidc on login (oidc_issuer, oidc_subject);

create table passkey (
  credential_id bytea primary key,
  login_id      bigint not null references login on delete cascade,
  name          text not null check (name <> ''),
  public_key    bytea not null,
  counter       bigint not null,
  transports    text[] not null default '{}',
  created_at    timestamptz not null default clock_timestamp(),
  last_used_at  timestamptz
);
create index passkey_login on passkey (login_id);

-- account_id is where the session acts now; no foreign key, for this table is spread by no account.
create table session (
  token_hash   bytea primary key check (octet_length(token_hash) = 32),  -- SHA-256; the token itself is kept nowhere
  session_id   bigint generated always as identity unique,
  login_id     bigint not null references login on delete cascade,
  account_id   bigint not null,
  created_at   timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  expires_at   timestamptz not null,
  source_ip    inet not null,
  user_agent   text not null
);
create index session_login on session (login_id);

-- Attempts to sign in that failed or are under way; all services count together.
create table sign_in_failure (
  failure_id bigint generated always as identity primary key,
  at         timestamptz not null default clock_timestamp(),
  address    inet not null,      -- of IPv6 its /64, which is one subscriber's
  email_hash bytea not null      -- SHA-256: what was typed may be a password
);
create index sign_in_failure_address on sign_in_failure (address, at);
create index sign_in_failure_email on sign_in_failure (email_hash, at);

-- Challenges of passkeys and single sign-on that were used, so that none is used twice. They are signed, so that those
-- which nobody answers need no row.
create table challenge (
  challenge_hash bytea primary key check (octet_length(challenge_hash) = 32),  -- SHA-256
  expires_at     timestamptz not null
);

-- Which login acts as the member: set when the person proved to be the one who was invited, never by the address alone.
alter table member add column login_id bigint references login;
create unique index member_login on member (account_id, login_id) where login_id is not null;
create index member_of_login on member (login_id) where login_id is not null;
-- Single sign-on looks for an address in all accounts.
create index member_unjoined on member (lower(email)) where login_id is null;

-- Links that are good for one use: to become the owner, to join, to set a new password.
create table link (
  account_id bigint not null references account,
  token_hash bytea not null check (octet_length(token_hash) = 32),
  purpose    text not null check (purpose in ('owner', 'invitation', 'reset')),
  member_id  bigint,                       -- null for the purpose owner: whoever opens it becomes a member
  created_by bigint,                       -- member; null = the operator
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at    timestamptz,
  primary key (account_id, token_hash),
  foreign key (account_id, member_id) references member on delete cascade,
  check ((purpose = 'owner') = (member_id is null))
);
create index link_token on link (token_hash);
create index link_member on link (account_id, member_id);

alter table api_key
  add column note       text,
  add column created_by bigint;            -- member; null = by a command

-- Requests of a key by the hour, counted from the log; key_counted says up to which entry.
create table key_hour (
  account_id bigint not null,
  api_key_id bigint not null,
  hour       timestamptz not null,
  requests   bigint not null,
  limited    bigint not null,              -- how many of them were answered 429
  source_ip  inet,                         -- of the last of them
  primary key (account_id, api_key_id, hour),
  foreign key (account_id, api_key_id) references api_key
);
create table key_counted (
  account_id bigint primary key references account,
  counted_to bigint not null
);

-- Two who change the same thing: the later is told. Raised by whoever changes what a person sets, commands too.
alter table connection add column version integer not null default 1;
alter table account add column version integer not null default 1;
create function raise_version() returns trigger language plpgsql as $$
begin
  new.version := old.version + 1;
  return new;
end $$;
create trigger raise_version before update of name, engine, connection_type, host, port, database, username, tls,
    credential, thresholds, expected_standbys, password_exposable, ca_certificate, ssh_host, ssh_port, ssh_username,
    ssh_credential, removed_at on connection
  for each row execute function raise_version();
create trigger raise_version before update of name, kind, plan, requests_per_minute on account
  for each row execute function raise_version();

-- Whose connection was removed, or has no tunnel any more, left its key behind until now.
update connection set ssh_credential = null
 where ssh_credential is not null and (removed_at is not null or connection_type <> 'ssh_tunnel');

do $$
declare
  tenant text;
begin
  foreach tenant in array array['link', 'key_hour', 'key_counted'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;

grant select, insert, update on login to dbvitals_writer;
grant select, insert, delete, update (name, counter, last_used_at) on passkey to dbvitals_writer;
grant select, insert, delete, update (account_id, last_seen_at) on session to dbvitals_writer;
grant select, insert, delete on sign_in_failure to dbvitals_writer;
grant insert on challenge to dbvitals_writer;
grant select, insert, update (used_at) on link to dbvitals_writer;
grant select, insert, update on key_hour, key_counted to dbvitals_writer;
