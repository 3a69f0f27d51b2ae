/**
 * SQL: if connection `c` is a pooler, the PostgreSQL servers of its account with the connections that their last runs found them
 * to allow, as JSON; else null.
 */
export const serverLimits = `
  case when c.engine = 'pgbouncer' then
    (select coalesce(jsonb_agg(jsonb_build_object('host', s.host, 'port', s.port, 'name', s.name, 'allowed', s.allowed)), '[]')
       from (select d.host, d.port, d.name,
                    (select sum(case when fact ->> 1 = 'max_connections' then 1 else -1 end
                                * case when fact ->> 2 ~ '^[0-9]{1,7}$' then (fact ->> 2)::int else 0 end)
                       from jsonb_array_elements(f.facts -> 'facts') fact
                      where fact ->> 1 in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) as allowed
               from connection d
               join fact_snapshot f on f.account_id = d.account_id and f.connection_id = d.connection_id
              where d.account_id = c.account_id and d.engine = 'postgres' and d.removed_at is null
                and f.kind = 'setting' and f.database = ''
              order by d.connection_id
              limit 1000) s
      where s.allowed > 0)
  end`;
