-- What members did of the first steps, as far as no other table tells. Nothing here is shown by the API.
create table onboarding (
  account_id      bigint not null,
  member_id       bigint not null,
  finding_read_at timestamptz,                   -- when the member first read a finding; null = not yet
  dismissed_at    timestamptz,                   -- when the member closed the list of first steps; null = it is shown
  primary key (account_id, member_id),
  foreign key (account_id, member_id) references member on delete cascade
);

alter table onboarding enable row level security;
alter table onboarding force row level security;
create policy service on onboarding to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on onboarding for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update on onboarding to dbvitals_writer;
grant select on onboarding to dbvitals_console;
