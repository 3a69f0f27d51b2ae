-- Seals: what the log held when it was signed, with a key that the database can't open (docs/seals.md).

-- The keys that sign an account's seals. The private half is sealed by DBVITALS_SECRET_KEY; the newest one signs.
create table seal_key (
  account_id bigint not null references account,
  public_key bytea not null check (octet_length(public_key) = 32),
  sealed     bytea not null,
  made_at    timestamptz not null default clock_timestamp(),
  primary key (account_id, public_key)
);

-- A seal, as it is signed. The columns are the fields of what docs/seals.md calls the seal's text.
create table activity_seal (
  account_id    bigint not null references account,
  number        bigint not null,       -- 1, 2, 3 … in the account
  first_id      bigint not null,       -- first_id = last_id + 1: it only lets retention cut
  last_id       bigint not null,
  last_at       timestamptz not null,  -- when the last entry happened
  cut_to        bigint not null,       -- retention may cut the entries up to this one
  leaves_sha256 bytea not null check (octet_length(leaves_sha256) = 32),
  previous      bytea not null check (octet_length(previous) = 32),  -- SHA-256 of the text of the seal before
  public_key    bytea not null check (octet_length(public_key) = 32),
  sealed_at     timestamptz not null,
  signature     bytea not null check (octet_length(signature) = 64),
  primary key (account_id, number)
);
create index activity_seal_last_at on activity_seal (account_id, last_at, number);

-- The hash of each entry of a seal, 32 bytes each in the order of ids: so that the entry that was altered can be named.
-- They go with the entries that retention cuts; the seals stay.
create table activity_leaves (
  account_id bigint not null references account,
  last_id    bigint not null,  -- of the seal
  leaves     bytea not null,
  primary key (account_id, last_id)
);
alter table activity_leaves alter column leaves set storage external;  -- hashes don't compress

do $$
declare
  tenant text;
begin
  foreach tenant in array array['seal_key', 'activity_seal', 'activity_leaves'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
  -- Only the owner seals, and even the owner does not rewrite by accident: it would have to grant itself the right first.
  execute 'revoke update, delete, truncate on activity_seal from current_user';
  execute 'revoke update, truncate on activity_leaves from current_user';
  execute 'revoke delete, truncate on seal_key from current_user';
end $$;
grant select on activity_seal, activity_leaves to dbvitals_writer;
