-- Who hosts a database, as its last run recognised it, and how a connection logs in.
alter table connection
  add column provider text,      -- as in src/vocabulary/hosted/providers.ts; null = none that is known, or not measured yet
  add column token_source text,  -- the name of an operator's command that prints a token; null = logs in by password
  add constraint token_over_tls check (token_source is null or tls = 'verify-full');

grant select (provider, token_source) on connection to dbvitals_console;

drop trigger raise_version on connection;
create trigger raise_version before update of name, engine, connection_type, host, port, database, username, tls,
    credential, thresholds, expected_standbys, password_exposable, ca_certificate, ssh_host, ssh_port, ssh_username,
    ssh_credential, token_source, removed_at on connection
  for each row execute function raise_version();
