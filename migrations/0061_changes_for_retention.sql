-- The index for retention is in the order of a page of an account's changes, too. Where few accounts have changes, the planner read it
-- for such a page, and the changes of all accounts with it.

-- Only for who asks for `connection_id > 0`, which all are. Takes 0.9 µs a row of connection_change.
drop index connection_change_at;
create index connection_change_at on connection_change (at) where connection_id > 0;
