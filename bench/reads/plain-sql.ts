/** The plain select of entries after an id, in an order. Parameters: account, id, limit. */
export const plainEntries = (order: 'asc' | 'desc') => `
  select e.id, e.action_type, e.page_path, e.occurred_at, e.properties, e.request_id, e.api_key_id, k.name as api_key_name,
         e.status, e.method, e.error_code, e.query, host(e.source_ip) as source_ip, e.user_agent
    from activity e
    left join api_key k using (account_id, api_key_id)
   where e.account_id = $1 and e.id > $2
   order by e.id ${order}
   limit $3`;

/** The plain select of an account's ticket statistics. */
export const plainStatistics = `
  select count(*) filter (where status = 'open') as open_count,
         count(*) filter (where resolved_at >= date_trunc('week', now(), 'UTC')) as resolved_this_week,
         count(*) filter (where status = 'open' and severity = 'critical') as critical_open,
         count(*) filter (where status = 'open' and severity = 'warning') as warning_open,
         round(avg(extract(epoch from resolved_at - first_seen_at)) / 3600, 2)::float8 as avg_resolution_hours
    from ticket
   where account_id = $1`;
