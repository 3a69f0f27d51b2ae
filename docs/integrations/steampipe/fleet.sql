-- mode 0600: it holds the key
select connection ->> 'name' as name,
       (connection ->> 'score')::int as score,
       connection ->> 'status' as status
  from net_http_request,
       jsonb_array_elements(response_body::jsonb -> 'data') as connection
 where url = 'https://dbvitals.example.com/api/v1/health/fleet'
   and request_headers = jsonb_object('{authorization}', '{Bearer <API_KEY>}')
 order by score nulls first;
