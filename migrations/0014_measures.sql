-- Measured values: what each run measured, and its history. Nothing here is shown by the API, so nothing here raises a generation.

-- The series of a connection: a number of a check or a vital, measured run after run.
create table measure_series (
  account_id    bigint not null,
  connection_id bigint not null,
  series_id     integer not null,               -- 1, 2, 3 … in the connection; never used again
  slot          smallint check (slot between 1 and 300),  -- its place in the values of a run; null = not measured for days
  check_id      text not null,                  -- '' = a vital
  metric        text not null,
  database      text not null,                  -- '' = the whole server
  object        text,                           -- null = the whole server or database
  last_seen_at  timestamptz not null,           -- when it was last measured, to the day
  grows         boolean not null default false, -- it only grows, so forecasts are made
  primary key (account_id, connection_id, series_id),
  foreign key (account_id, connection_id) references connection
);
create unique index measure_series_name on measure_series (account_id, connection_id, check_id, metric, database, coalesce(object, ''));
create unique index measure_series_slot on measure_series (account_id, connection_id, slot) where slot is not null;
-- A connection has one account. Without this the planner expects a single series of a connection, and reads all 60 by another index.
create statistics measure_series_connection (dependencies) on account_id, connection_id from measure_series;

-- The values of a run: that of a series is at its slot. Every run (at most one a minute) for 24 hours, then one in five minutes
-- until the end of the next day.
create table measure_run (
  account_id    bigint not null,
  connection_id bigint not null,
  measured_at   timestamptz not null,           -- created_at of the health check
  values        real[] not null,                -- null = not measured in this run
  primary key (account_id, connection_id, measured_at)
) with (autovacuum_vacuum_scale_factor = 0.02);

-- The values of a day of one series, up to 7 days: the last one of each of its 288 five minutes. A single element: all are equal.
create table measure_five_minutes (
  account_id    bigint not null,
  connection_id bigint not null,
  series_id     integer not null,
  day           date not null,
  last          real[] not null,
  primary key (account_id, connection_id, series_id, day)
) with (autovacuum_vacuum_scale_factor = 0.02);

-- The values of the latest run, exact, with what they are compared with. The arrays are parallel.
create table measure_latest (
  account_id    bigint not null,
  connection_id bigint not null,
  measured_at   timestamptz not null,
  series_ids    integer[] not null,
  values        double precision[] not null,
  operators     text[] not null,                -- '>=', '<=' or null
  warnings      double precision[] not null,
  criticals     double precision[] not null,
  limits        double precision[] not null,    -- the value at which the object is full, or null
  dropped       integer not null default 0,     -- numbers without a series, because the connection has 300
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
) with (fillfactor = 50);

-- The hours of a day, and the days of a month, of one series: element 1 is the first hour or day (UTC). 60 days and 13 months.
-- The arrays may be shorter than the day or month. minimum, maximum or mean = null: it equals last, in every element.
create table measure_hour (
  account_id    bigint not null,
  connection_id bigint not null,
  series_id     integer not null,
  day           date not null,
  minimum       real[],
  maximum       real[],
  mean          real[],
  last          real[] not null,
  primary key (account_id, connection_id, series_id, day)
) with (autovacuum_vacuum_scale_factor = 0.02);  -- each hour is appended to the rows of today, so that is a day's rows at most
create table measure_day (
  account_id    bigint not null,
  connection_id bigint not null,
  series_id     integer not null,
  month         date not null,                  -- its first day
  minimum       real[],
  maximum       real[],
  mean          real[],
  last          real[] not null,
  primary key (account_id, connection_id, series_id, month)
) with (autovacuum_vacuum_scale_factor = 0.02);

-- How far the runs of a connection are rolled up.
create table measure_rolled (
  account_id    bigint not null,
  connection_id bigint not null,
  hours_to      timestamptz not null,           -- the hours before it are in measure_hour
  days_to       date not null,                  -- the days before it are in measure_day
  primary key (account_id, connection_id),
  foreign key (account_id, connection_id) references connection
);
create index measure_rolled_due on measure_rolled (hours_to, account_id, connection_id);

-- When a series that only grows will be full, as of its last hour.
create table measure_forecast (
  account_id    bigint not null,
  connection_id bigint not null,
  series_id     integer not null,
  made_at       timestamptz not null,
  per_day       double precision not null,      -- growth in a day, with its interval
  per_day_low   double precision not null,
  per_day_high  double precision not null,
  full_at       timestamptz,                    -- null = it has no limit
  full_earliest timestamptz,
  full_latest   timestamptz,                    -- null = perhaps never
  primary key (account_id, connection_id, series_id),
  foreign key (account_id, connection_id, series_id) references measure_series on delete cascade
);

do $$
declare
  tenant text;
begin
  foreach tenant in array array['measure_series', 'measure_run', 'measure_five_minutes', 'measure_latest', 'measure_hour', 'measure_day', 'measure_rolled',
                                'measure_forecast'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader, dbvitals_console
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;
grant select, insert, update, delete on measure_series, measure_run, measure_five_minutes, measure_latest, measure_hour, measure_day, measure_rolled,
  measure_forecast to dbvitals_writer;
grant select on measure_series, measure_run, measure_five_minutes, measure_latest, measure_hour, measure_day, measure_forecast to dbvitals_console;
