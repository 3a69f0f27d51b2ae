-- How many sessions were blocked at the end of a minute, for alert rules.
alter table session_load
  add column end_blocked_sessions real,   -- null = five minutes, or stored by a version that did not know it
  add column end_blocked_seconds real;    -- the longest wait then
