-- These checks are at most a warning: nobody is hit within a day. What was set as their critical threshold has no meaning any more.
-- Takes 2 µs a connection.

create temporary table ended (check_id text, name text) on commit drop;
insert into ended values
  ('MY_HISTORY_LIST', 'critical'),
  ('MY_LONG_TRX', 'critical_seconds'),
  ('PG_DEAD_TUPLES', 'critical'),
  ('PG_IDLE_IN_TXN', 'critical_seconds'),
  ('PG_LONG_QUERY', 'critical_seconds'),
  ('PG_LONG_XACT', 'critical_seconds'),
  ('PG_PREPARED_XACT_OLD', 'critical_seconds');

delete from threshold using ended where (threshold.check_id, threshold.name) = (ended.check_id, ended.name);

update connection
   set thresholds = (
         select coalesce(jsonb_object_agg(check_id, named), '{}')
           from (select key as check_id,
                        value - array(select name from ended where ended.check_id = key) as named
                   from jsonb_each(thresholds)) kept
          where named <> '{}')
 where exists (select from ended where thresholds -> check_id ? name);
