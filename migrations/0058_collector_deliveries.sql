-- Lets collectors deliver what they measured while the service was away, take pulses, and be silent once and not for each connection.

alter table collected_connection
  -- By the collector's clock, in milliseconds since 1970.
  add column past_at_ms bigint,                              -- of the newest result that was stored late; null = none
  add column judged_at_ms bigint[] not null default '{}',    -- of the latest runs that were judged, newest first
  add column evidence jsonb,            -- what the pulses saw that asked for the run which the collector has; null = none asked
  add column look_until timestamptz,    -- until then a person watches; null = nobody has
  add column look jsonb,                -- the answer of the last look
  add column looked_at timestamptz;

alter table collector
  add column buffered integer not null default 0,            -- results that wait there for delivery, as it said last
  add column buffered_seconds double precision not null default 0,  -- how old the oldest of them is
  add column returned_at timestamptz;                        -- when it was last heard of again after a silence; null = never

grant select (buffered, buffered_seconds, silent_at) on collector to dbvitals_console;
