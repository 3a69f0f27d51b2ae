-- Saved views: named filters of a page, of one member or shared by the account. Nothing here is shown by the API.
create table saved_view (
  account_id bigint not null references account,
  view_id    bigint generated always as identity,
  page       text not null,                      -- src/vocabulary/values/view-pages.ts
  name       text not null check (name <> ''),
  query      text not null,                      -- of the page's address: status=critical&tag=pci; '' = no filter
  member_id  bigint,                             -- whose; null = shared
  created_by text not null,
  created_at timestamptz not null,
  primary key (account_id, view_id),
  foreign key (account_id, member_id) references member on delete cascade
);
create unique index saved_view_name on saved_view (account_id, page, coalesce(member_id, 0), lower(name));
create index saved_view_member on saved_view (account_id, member_id);  -- for the foreign key

alter table saved_view enable row level security;
alter table saved_view force row level security;
create policy service on saved_view to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on saved_view for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update, delete on saved_view to dbvitals_writer;
grant select on saved_view to dbvitals_console;
