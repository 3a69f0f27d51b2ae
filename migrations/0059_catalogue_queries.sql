-- Which queries of MySQL and MariaDB read only the server's catalogue, as dbvitals does: the statistics there name no role.
alter table query_state add column catalogue text[] not null default '{}';  -- digests, those that were seen last first

grant select (account_id, connection_id, catalogue) on query_state to dbvitals_console;
