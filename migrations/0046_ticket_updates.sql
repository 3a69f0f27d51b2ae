-- Numbers the changes of an account's tickets, so that a mirror of them reads what changed and misses nothing (docs/decisions/0113-ticket-updates.md).

-- Apart from ticket, whose changes raise a generation and rewrite all its indexes. No foreign key: an account that moves brings its
-- tickets again while it is in use.
create table ticket_update (
  account_id bigint not null,
  ticket_id  bigint not null,
  number     bigint not null,       -- the later a change is committed, the higher: it is taken under the lock of the account's log
  updated_at timestamptz not null,  -- never decreases as the number grows
  primary key (account_id, ticket_id)
);

-- Takes 3.9 µs a row of ticket.
insert into ticket_update
select account_id, ticket_id, row_number() over (partition by account_id order by at, ticket_id), at
  from (select account_id, ticket_id, greatest(first_seen_at, last_seen_at, resolved_at) as at from ticket) t;

create unique index ticket_update_number on ticket_update (account_id, number);
create index ticket_update_at on ticket_update (account_id, updated_at, number);
create index ticket_check on ticket (account_id, check_id, number);

alter table ticket_update enable row level security;
alter table ticket_update force row level security;
create policy service on ticket_update to dbvitals_writer, current_role using (true) with check (true);
create policy own_account on ticket_update for select to dbvitals_reader, dbvitals_console
  using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint);
grant select, insert, update on ticket_update to dbvitals_writer;
grant select on ticket_update, ticket_triage to dbvitals_reader;

-- Gives the next numbers of an account to these tickets. Who changes tickets has the lock already; who does not waits for it here. The
-- tickets of an account that is arriving from another cell bring their numbers with them.
create function number_ticket_updates(of_account bigint, tickets bigint[]) returns void language plpgsql as $$
declare
  latest  ticket_update;
  instant timestamptz;
begin
  perform from activity_head where account_id = of_account for update;
  perform from account where account_id = of_account and is_here;
  if not found then return; end if;
  select * into latest from ticket_update where account_id = of_account order by number desc limit 1;
  instant := greatest(clock_timestamp(), latest.updated_at);
  insert into ticket_update as u (account_id, ticket_id, number, updated_at)
  select of_account, ticket, coalesce(latest.number, 0) + row_number() over (order by ticket), instant
    from (select distinct unnest(tickets) as ticket) changed
  on conflict (account_id, ticket_id) do update set number = excluded.number, updated_at = excluded.updated_at;
end $$;

create function number_changed_tickets() returns trigger language plpgsql as $$
begin
  perform number_ticket_updates(account_id, array_agg(ticket_id))
     from changed group by account_id order by account_id;
  return null;
end $$;

-- The tickets of a connection have its name, and the open ones its tags.
create function number_tickets_of_renamed() returns trigger language plpgsql as $$
begin
  perform number_ticket_updates(new.account_id, array_agg(ticket_id))
     from ticket where account_id = new.account_id and connection_id = new.connection_id
   having count(*) > 0;
  return null;
end $$;
create function number_tickets_of_tagged() returns trigger language plpgsql as $$
begin
  perform number_ticket_updates(c.account_id, array_agg(t.ticket_id))
     from changed c
     join ticket t on t.account_id = c.account_id and t.connection_id = c.connection_id and t.status = 'open'
    group by c.account_id order by c.account_id;
  return null;
end $$;

-- A member who is removed is assigned to nothing.
create function number_tickets_of_removed_member() returns trigger language plpgsql as $$
begin
  perform number_ticket_updates(old.account_id, array_agg(ticket_id))
     from ticket_triage where account_id = old.account_id and assignee_id = old.member_id
   having count(*) > 0;
  return null;
end $$;

do $$
declare
  name text;
begin
  foreach name in array array['ticket', 'ticket_triage'] loop
    execute format('create trigger number_added_tickets after insert on %I
      referencing new table as changed for each statement execute function number_changed_tickets()', name);
    execute format('create trigger number_changed_tickets after update on %I
      referencing new table as changed for each statement execute function number_changed_tickets()', name);
  end loop;
end $$;
create trigger number_tickets_of_renamed after update of name on connection
  for each row when (old.name is distinct from new.name) execute function number_tickets_of_renamed();
create trigger number_added_tickets after insert on connection_tags
  referencing new table as changed for each statement execute function number_tickets_of_tagged();
create trigger number_changed_tickets after update on connection_tags
  referencing new table as changed for each statement execute function number_tickets_of_tagged();
create trigger number_removed_tickets after delete on connection_tags
  referencing old table as changed for each statement execute function number_tickets_of_tagged();
create trigger number_tickets_of_removed_member after delete on member
  for each row execute function number_tickets_of_removed_member();
