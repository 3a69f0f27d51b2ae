-- Accounts can live in several stores, called cells, and a directory says which account lives where.

-- Which cell this store is; no row = the only store. 0 = a control store that is no cell.
create table cell (
  cell_id smallint primary key check (cell_id between 0 and 255)
);
create unique index cell_one on cell ((true));

-- The directory, in the control store; empty in every other store and where there is one store. It belongs to no account.
create table directory_account (
  account_id bigint primary key,
  cell_id    smallint not null check (cell_id between 1 and 255),
  state      text not null default 'here' check (state in ('here', 'moving'))  -- moving: its requests get a 500
);
create table directory_key (
  hash       bytea primary key check (octet_length(hash) = 32),  -- SHA-256 of the key, as in api_key
  account_id bigint not null
);
create index directory_key_account on directory_key (account_id);

do $$
declare
  shared text;
begin
  foreach shared in array array['cell', 'directory_account', 'directory_key'] loop
    execute format('alter table %I enable row level security', shared);
    execute format('alter table %I force row level security', shared);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', shared);
  end loop;
end $$;
grant select on cell to dbvitals_writer;
grant select, insert, update on directory_account to dbvitals_writer;
grant select, insert on directory_key to dbvitals_writer;

-- False: the account is being moved, or lives in another cell. This store answers nothing for it and changes nothing of it.
-- Any change of it must also raise api_key.version of the account's keys, so that every gate looks its keys up again.
alter table account add column is_here boolean not null default true;

-- The login is a row of the control store.
alter table member drop constraint member_login_id_fkey;
