-- Run once by the postgres image, as superuser. The password is the one in the URL that the services get.
\set password `sed 's|^[^:]*://[^:]*:\([^@]*\)@.*|\1|' /run/secrets/database-url`
create role dbvitals login createrole password :'password';
create database dbvitals owner dbvitals;
grant pg_monitor to dbvitals;
