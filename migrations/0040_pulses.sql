-- Pulses: a short look at each watched server, every ten seconds by default, and which monitor has it.

-- Seconds from pulse to pulse; 0 = off.
alter table connection add column pulse_seconds smallint not null default 10 check (pulse_seconds between 0 and 60);

alter table connection_schedule
  add column pulse_by uuid,            -- the monitor that has the pulse
  add column pulse_until timestamptz,  -- until when; it renews this
  add column pulse_evidence jsonb;     -- what the pulses saw that asked for the next run; null = none asked

-- Why a run took place besides its schedule: 'pulse'; null = on schedule, or a person asked. No answer of the API has it.
alter table health_check add column reason text;

drop trigger raise_version on connection;
create trigger raise_version before update of name, engine, connection_type, host, port, database, username, tls,
    credential, thresholds, expected_standbys, password_exposable, ca_certificate, ssh_host, ssh_port, ssh_username,
    ssh_credential, token_source, query_texts, pulse_seconds, removed_at on connection
  for each row execute function raise_version();

grant select (pulse_seconds) on connection to dbvitals_console;
