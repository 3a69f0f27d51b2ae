-- Notifications: destinations, events with their deliveries, alert rules, alerts and maintenance windows. Nothing here is shown by
-- the API, so nothing here raises a generation.

-- Where events of an account are sent.
create table destination (
  account_id          bigint not null references account,
  destination_id      bigint generated always as identity,
  name                text not null check (name <> ''),
  channel             text not null,             -- src/vocabulary/channels.ts
  target              text not null,             -- what may be shown of its address: https://hooks.example.com, or the recipients
  settings            jsonb not null,            -- of the channel, without secrets
  encrypted           bytea,                     -- its secrets, bound to the account, the destination, channel, target and settings; null = none
  kinds               text[] not null,           -- src/vocabulary/event-kinds.ts
  minimum_severity    text,                      -- null = any
  connection_ids      bigint[],                  -- null = any; a connection passes that is in it, or whose name matches
  connection_names    text[],                    -- patterns with *; null = any
  requests_per_second smallint not null default 50 check (requests_per_second between 1 and 50),
  quiet_hours         jsonb,                     -- {from: "22:00", to: "07:00", time_zone}; null = none
  state               text not null default 'enabled' check (state in ('enabled', 'disabled', 'paused')),  -- paused = restored from a backup
  state_reason        text,
  state_since         timestamptz not null,
  created_at          timestamptz not null,
  removed_at          timestamptz,
  primary key (account_id, destination_id)
);
create index destination_id on destination (destination_id);

-- The queue of a destination. Apart from it, so that its changes are small.
create table destination_queue (
  account_id      bigint not null,
  destination_id  bigint not null,
  epoch           text not null,                 -- another one after a restore
  last_sequence   bigint not null default 0,     -- of the newest queued delivery
  queued          integer not null default 0,    -- deliveries that have not ended
  dropped         bigint not null default 0,     -- events without a number, because too many were queued
  due_at          timestamptz,                   -- of the delivery that is due first; null = nothing is queued
  tokens          real not null default 50,      -- requests that it may get at tokens_at
  tokens_at       timestamptz not null default now(),
  failing_since   timestamptz,                   -- the first failed attempt since the last success; null = the last one succeeded
  last_success_at timestamptz,
  last_attempt_at timestamptz,
  last_result     text,                          -- of the last attempt, in one line
  primary key (account_id, destination_id),
  foreign key (account_id, destination_id) references destination
) with (fillfactor = 50);
create index destination_queue_due on destination_queue (due_at) where due_at is not null;

-- The recipients of an e-mail destination. A message is sent only to those who confirmed.
create table destination_recipient (
  account_id      bigint not null,
  destination_id  bigint not null,
  email           text not null,
  state           text not null check (state in ('unconfirmed', 'confirmed', 'unsubscribed')),
  token_hash      bytea,                         -- SHA-256 of the token in its links
  asked_at        timestamptz,                   -- when a link to confirm was last asked for
  confirmed_at    timestamptz,
  times_asked     smallint not null default 0,   -- in the 24 h before asked_at
  ask_at          timestamptz,                   -- when the link is to be sent; null = it was sent
  removed_at      timestamptz,                   -- no longer a recipient; the row stays, so that an unsubscribed one stays so
  primary key (account_id, destination_id, email),
  foreign key (account_id, destination_id) references destination
);
create index destination_recipient_token on destination_recipient (token_hash);
create index destination_recipient_ask on destination_recipient (ask_at) where ask_at is not null;

-- What happened, for each account with a destination that wants it.
create table event (
  account_id    bigint not null,
  event_id      text not null,                   -- also the webhook-id
  kind          text not null,
  occurred_at   timestamptz not null,
  severity      text,                            -- null = none
  connection_id bigint,
  ticket_id     bigint,
  alert_id      bigint,
  body          text not null,                   -- the envelope, as it is sent
  details       jsonb not null,                  -- what messages say beyond the envelope: src/notifications/event.ts
  primary key (account_id, event_id)
);
create index event_at on event (occurred_at);    -- for retention
create index event_alert on event (account_id, alert_id) where alert_id is not null;

-- One event for one destination.
create table delivery (
  account_id     bigint not null,
  destination_id bigint not null,
  delivery_id    bigint generated always as identity,
  event_id       text not null,
  epoch          text not null,
  sequence       bigint not null,                -- 1, 2, 3 … of the destination in this epoch; one that is sent again keeps it
  state          text not null default 'queued' check (state in ('queued', 'accepted', 'given_up', 'cancelled')),
  queued_at      timestamptz not null,
  due_at         timestamptz not null,           -- of the next attempt; while one runs, when another process may try
  attempts       smallint not null default 0,
  message_id     bigint,                         -- the message that it is sent in; null = the event's own body
  ended_at       timestamptz,
  status         smallint,                       -- of the last attempt; null = no answer
  result         text,                           -- of the last attempt, in one line
  reason         text,                           -- why it was cancelled or given up
  is_logged      boolean not null default false, -- whether the account's log has its end, or needs not
  primary key (account_id, destination_id, delivery_id)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index delivery_due on delivery (account_id, destination_id, due_at) where state = 'queued';
create index delivery_unlogged on delivery (account_id) where ended_at is not null and not is_logged;
create index delivery_at on delivery (queued_at);  -- for retention
create index delivery_event on delivery (account_id, event_id);

-- A message of a channel that puts several events into one, or formats them itself. Made once, sent as it is on every attempt.
create table delivery_message (
  account_id     bigint not null,
  destination_id bigint not null,
  message_id     bigint generated always as identity,
  made_at        timestamptz not null,
  content_type   text not null,
  body           text not null,
  primary key (account_id, destination_id, message_id)
);
create index delivery_message_at on delivery_message (made_at);

create table delivery_attempt (
  account_id     bigint not null,
  destination_id bigint not null,
  delivery_id    bigint not null,
  attempt        smallint not null,              -- 1, 2, 3 …
  started_at     timestamptz not null,
  milliseconds   integer not null,
  status         smallint,                       -- null = no answer
  result         text not null,                  -- in one line
  headers        jsonb not null,                 -- that were sent, without secrets
  response       text not null,                  -- at most 4 kB
  primary key (account_id, destination_id, delivery_id, attempt)
);
create index delivery_attempt_at on delivery_attempt (started_at);

create table alert_rule (
  account_id          bigint not null references account,
  rule_id             bigint generated always as identity,
  name                text not null check (name <> ''),
  preset              text,                      -- of a rule that every account starts with
  metric              text not null,             -- src/vocabulary/alert-metrics.ts
  check_id            text,                      -- of findings_*, measure and days_left; of a measure, '' = a vital
  measure             text,                      -- the name of the measure, for measure and days_left
  operator            text not null check (operator in ('<', '<=', '>', '>=')),
  threshold           double precision not null,
  clear_threshold     double precision,          -- null = the threshold
  for_seconds         integer not null default 0,
  for_runs            smallint not null default 1,
  severity            text not null,
  connection_ids      bigint[],                  -- as of a destination
  connection_names    text[],
  destination_ids     bigint[],                  -- null = all
  reminder_seconds    integer,                   -- null = none
  is_enabled          boolean not null default true,
  created_at          timestamptz not null,
  removed_at          timestamptz,
  primary key (account_id, rule_id)
);
create unique index alert_rule_preset on alert_rule (account_id, preset);
create index alert_rule_id on alert_rule (rule_id);

-- A rule's condition that holds for a connection, or held.
create table alert (
  account_id         bigint not null,
  alert_id           bigint generated always as identity,
  rule_id            bigint not null,
  connection_id      bigint not null,
  state              text not null check (state in ('pending', 'open', 'resolved')),
  since              timestamptz not null,       -- when the condition began to hold
  runs               integer not null default 1, -- in how many runs it held
  metric             text not null,
  operator           text not null,
  threshold          double precision not null,
  value              double precision not null,  -- when it was triggered; details has the worst
  details            jsonb not null,             -- the object, and what messages say
  severity           text not null,
  triggered_at       timestamptz,
  announced_at       timestamptz,                -- when alert.triggered was queued; null = held back, or no destination
  reminded_at        timestamptz,
  acknowledged_at    timestamptz,
  acknowledged_until timestamptz,
  acknowledged_by    text,
  acknowledged_note  text,
  reopened_at        timestamptz[] not null default '{}',  -- it flaps when there are three within 24 h
  resolved_at        timestamptz,
  resolution         text,
  primary key (account_id, alert_id),
  foreign key (account_id, rule_id) references alert_rule,
  foreign key (account_id, connection_id) references connection
);
-- For the foreign keys.
create index alert_connection on alert (account_id, connection_id);
create index alert_of_rule on alert (account_id, rule_id);
create unique index alert_standing on alert (account_id, connection_id, rule_id) where state <> 'resolved';
create index alert_open on alert (account_id, alert_id) where state = 'open';
create index alert_resolved on alert (account_id, resolved_at desc, alert_id desc) where state = 'resolved';
create index alert_id on alert (alert_id);

create table maintenance (
  account_id       bigint not null references account,
  maintenance_id   bigint generated always as identity,
  name             text not null check (name <> ''),
  connection_ids   bigint[],                     -- as of a destination
  connection_names text[],
  starts_at        timestamptz,                  -- once; null = recurring
  ends_at          timestamptz,
  weekdays         smallint[],                   -- recurring: 1 = Monday … 7 = Sunday
  start_time       time,                         -- in the time zone
  time_zone        text,                         -- such as Europe/Berlin
  minutes          integer check (minutes between 1 and 10080),
  created_by       text not null,
  created_at       timestamptz not null,
  removed_at       timestamptz,
  primary key (account_id, maintenance_id),
  check ((starts_at is null) = (weekdays is not null))
);
create index maintenance_id on maintenance (maintenance_id);

-- A run that was made in a maintenance window.
alter table health_check add column in_maintenance boolean not null default false;

do $$
declare
  tenant text;
begin
  foreach tenant in array array['destination', 'destination_queue', 'destination_recipient', 'event', 'delivery', 'delivery_message',
                                'delivery_attempt', 'alert_rule', 'alert', 'maintenance'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format('create policy service on %I to dbvitals_writer, current_role using (true) with check (true)', tenant);
    execute format($policy$create policy own_account on %I for select to dbvitals_reader, dbvitals_console
      using (account_id = nullif(current_setting('dbvitals.account_id', true), '')::bigint)$policy$, tenant);
  end loop;
end $$;
grant select, insert, update, delete on destination, destination_queue, destination_recipient, event, delivery, delivery_message, delivery_attempt,
  alert_rule, alert, maintenance to dbvitals_writer;
grant select on destination_queue, event, delivery, delivery_message, delivery_attempt, alert_rule, alert, maintenance to dbvitals_console;
grant select (account_id, destination_id, name, channel, target, settings, kinds, minimum_severity, connection_ids, connection_names,
  requests_per_second, quiet_hours, state, state_reason, state_since, created_at, removed_at) on destination to dbvitals_console;
grant select (account_id, destination_id, email, state, asked_at, confirmed_at, removed_at) on destination_recipient to dbvitals_console;

-- Every account starts with these rules (src/notifications/alerts/preset-rules.ts).
insert into alert_rule (account_id, name, preset, metric, operator, threshold, clear_threshold, for_seconds, for_runs, severity,
                        reminder_seconds, created_at)
select account_id, p.name, p.preset, p.metric, p.operator, p.threshold, p.clear_threshold, p.for_seconds, p.for_runs, p.severity, 43200, created_at
  from account,
       (values (1, 'Score below 50', 'score', 'score', '<', 50, 55, 0, 2, 'critical'),
               (2, 'Unreachable for 10 minutes', 'unreachable', 'unreachable_seconds', '>=', 600, null, 0, 1, 'critical'),
               (3, 'No check for three intervals', 'stale', 'intervals_since_check', '>', 3, null, 0, 1, 'warning'))
         as p (place, name, preset, metric, operator, threshold, clear_threshold, for_seconds, for_runs, severity)
 order by account_id, p.place;
