-- When the store was last backed up, and what the last failure was.

-- One row at most: `doctor` and the service's metrics read it, so that a nightly backup that fails is seen.
create table last_backup (
  only_row     boolean primary key default true check (only_row),
  succeeded_at timestamptz,  -- null before the first backup
  bytes        bigint,       -- of that backup's file
  failed_at    timestamptz,  -- null when none has ever failed
  failure      text          -- one sentence
);
grant select on last_backup to dbvitals_writer;
