-- What members say about a ticket. Apart from ticket, because a change of ticket raises the generation and discards kept answers.
-- Nothing here is shown by the API.
create table ticket_comment (
  account_id bigint not null,
  comment_id bigint generated always as identity,
  ticket_id  bigint not null,
  author_id  bigint,                        -- a member; null = the command line
  author     text not null,                 -- the name at that time
  body       text not null check (body <> ''),
  mentions   bigint[] not null default '{}', -- members; one who was removed counts as none
  created_at timestamptz not null,
  primary key (account_id, comment_id),
  foreign key (account_id, ticket_id) references ticket
);
create index ticket_comment_ticket on ticket_comment (account_id, ticket_id, comment_id);
create index ticket_comment_mentions on ticket_comment (account_id, ticket_id) where mentions <> '{}';

alter table ticket_comment enable row level security;
alter table ticket_comment force row level security;
create policy service on ticket_comment to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on ticket_comment for select to dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, delete on ticket_comment to dbvitals_writer;
grant select on ticket_comment to dbvitals_console;
