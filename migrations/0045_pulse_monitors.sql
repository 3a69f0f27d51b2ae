-- One row for each monitor that pulses, which it renews, in place of a row for each connection.

-- A claim (connection_schedule.pulse_by) holds while its monitor's lease does. pulse_until is then an hour ahead, so that monitors of
-- earlier versions, which know no leases, leave the connection alone.
create table pulse_monitor (
  monitor uuid primary key,
  until   timestamptz not null   -- until when its claims hold; it renews this
) with (fillfactor = 50);

alter table pulse_monitor enable row level security;
alter table pulse_monitor force row level security;
create policy service on pulse_monitor to dbvitals_writer, current_role using (true) with check (true);
grant select, insert, update, delete on pulse_monitor to dbvitals_writer;
