-- The gate reads a window's count before its update from the updated row, so that it need not be locked first.
alter table key_window add column used_before integer not null default 0;
