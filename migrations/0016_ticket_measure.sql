-- The number that a ticket's fault comes from: {metric, value, operator, threshold}. Written together with its metric_line.
alter table ticket add column measured jsonb;  -- null = it comes from none, or the ticket is older than this column

grant update (measured) on ticket to dbvitals_writer;
