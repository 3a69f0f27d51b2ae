-- How often the service has reminded of the end of an API key.
alter table api_key add column expiry_reminders smallint not null default 0;
