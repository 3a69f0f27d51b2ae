-- What members do with tickets: who works on one, who has seen it, and until when it is put off. Apart from ticket, because a change of
-- ticket raises the generation and discards kept answers. Nothing here is shown by the API.

create table ticket_triage (
  account_id            bigint not null,
  ticket_id             bigint not null,
  version               bigint not null default 1,  -- of this row, for members who change it at the same time
  changed_at            timestamptz not null,
  changed_by            text not null,
  assignee_id           bigint,                     -- a member; one who was removed counts as none
  assigned_by           text,
  acknowledged_at       timestamptz,                -- null = not acknowledged
  acknowledged_until    timestamptz,                -- null = until it is resolved or gets worse
  acknowledged_by       text,
  acknowledged_severity text,                       -- of the ticket at that time
  before                jsonb,                      -- the columns from assignee_id on before the last change, to undo it
  primary key (account_id, ticket_id),
  foreign key (account_id, ticket_id) references ticket
);

alter table ticket_triage enable row level security;
alter table ticket_triage force row level security;
create policy service on ticket_triage to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on ticket_triage for select to dbvitals_reader, dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update on ticket_triage to dbvitals_writer;
grant select on ticket_triage to dbvitals_console;

alter table silence add column created_by text;  -- a member's name; null = it is older than this column
