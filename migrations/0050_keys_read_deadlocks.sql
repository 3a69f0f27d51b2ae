-- Keys read deadlocks among the episodes of a connection. They are read afresh, so nothing here raises a generation.

grant select on deadlock to dbvitals_reader;
