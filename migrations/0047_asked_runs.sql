-- Finds the runs that pulses asked for without a look at all that are due: with 10,000 of them each claim looked at every one.

create index connection_schedule_asked on connection_schedule (due_at) where pulse_evidence is not null;
