-- Pages compare the settings of two servers. Sensitive values are hashed already when a run stores them.
grant select on fact_snapshot to dbvitals_console;
