-- The postgres image runs this once, as superuser. The password comes from the services' database URL.
\set password `sed 's|^[^:]*://[^:]*:\([^@]*\)@.*|\1|' /run/secrets/database-url`
create role dbvitals login createrole password :'password';
grant pg_monitor to dbvitals; -- to watch this server too
create database dbvitals owner dbvitals;
