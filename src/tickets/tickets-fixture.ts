import fc from 'fast-check';

const SEVERITIES = ['critical', 'warning', 'info'] as const;
export const START = Date.parse('2026-01-01T00:00:00Z');
export const second = (n: number) => new Date(START + n * 1000).toISOString().replace('.000', '');

export interface Question {
  status?: string;
  severity?: string;
  connection?: number;
  from?: number;
  to?: number;
  page: number;
  per_page: number;
}

export const question = (seconds: number, pages: number): fc.Arbitrary<Question> =>
  fc.record(
    {
      status: fc.constantFrom('open', 'resolved'),
      severity: fc.constantFrom(...SEVERITIES),
      connection: fc.nat(2),
      from: fc.integer({ min: -1, max: seconds }),
      to: fc.integer({ min: -1, max: seconds }),
      page: fc.integer({ min: 1, max: pages }),
      per_page: fc.constantFrom(1, 7, 50, 100),
    },
    { requiredKeys: ['page', 'per_page'] },
  ) as fc.Arbitrary<Question>;

// What the endpoint's answer has to agree with.
export const naiveStatistics = `
  select count(*) filter (where status = 'open') as open_count,
         count(*) filter (where resolved_at >= date_trunc('week', now(), 'UTC')) as resolved_this_week,
         count(*) filter (where status = 'open' and severity = 'critical') as critical_open,
         count(*) filter (where status = 'open' and severity = 'warning') as warning_open,
         round((avg(extract(epoch from resolved_at - first_seen_at)) / 3600)::numeric, 2)::float8
           as avg_resolution_hours
    from ticket
   where account_id = $1`;

export const insertTickets = `
  insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line,
                      remediation, first_seen_at, last_seen_at, resolved_at)
  select $1, connection_id, 'PG_TEST', gen_random_uuid(), 'schema', 'Test', severity, status, '', '',
         at, at, case when status = 'resolved' then at + n * interval '37 min' end
    from (select n, ($2::bigint[])[connection + 1] as connection_id, severity, status,
                 timestamptz '${new Date(START).toISOString()}' + second * interval '1 s' as at
            from jsonb_to_recordset($3::jsonb)
              as t (n int, connection int, severity text, status text, second int)) t
   order by n`;

/** Tickets that nobody can tell from random ones, five of a second, most of them of the first connection. */
export const bulk = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    n,
    connection: n % 127 === 0 ? 2 : n % 61 === 0 ? 1 : 0,
    severity: SEVERITIES[((n * 2_654_435_761) >>> 7) % 3],
    status: ((n * 40_503) >>> 3) % 5 === 0 ? 'open' : 'resolved',
    second: Math.floor(n / 5),
  }));

export const turnTickets = `
  update ticket
     set status = $4, severity = coalesce($5, severity),
         resolved_at = case when $4 = 'resolved' then now() - number % 20 * interval '17 h' end
   where account_id = $1 and number % $2 = $3`;

export type Step =
  | { open: { connection: number; severity: string; gap: number }[] }
  | { turn: { modulus: number; status: string; severity: string | null } };

export const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    open: fc.array(
      fc.record({
        connection: fc.nat(2),
        severity: fc.constantFrom(...SEVERITIES),
        gap: fc.constantFrom(0, 0, 1, 9),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  }),
  fc.record({
    turn: fc.record({
      modulus: fc.integer({ min: 1, max: 9 }),
      status: fc.constantFrom('open', 'resolved'),
      severity: fc.constantFrom(null, ...SEVERITIES),
    }),
  }),
);

// Blocks of which every class is at 0 again may be there or not.
export const tallies = `
  select connection_id, level::int, block, open_critical, open_warning, open_info, resolved_critical, resolved_warning,
         resolved_info
    from ticket_tally
   where account_id = $1
     and (open_critical, open_warning, open_info, resolved_critical, resolved_warning, resolved_info)
         <> (0, 0, 0, 0, 0, 0)
   order by 1, 2, 3`;
export const naiveTallies = `
  select p.of as connection_id, level, p.place / (256 ^ level)::bigint as block,
         ${['open', 'resolved']
           .flatMap((status) =>
             SEVERITIES.map(
               (severity) =>
                 `count(*) filter (where status = '${status}' and severity = '${severity}')::int as ${status}_${severity}`,
             ),
           )
           .join(', ')}
    from (select *, row_number() over (order by first_seen_at, ticket_id) as n,
                 row_number() over (partition by connection_id order by first_seen_at, ticket_id) as connection_n
            from ticket where account_id = $1) t,
         lateral (values (0, n), (connection_id, connection_n)) as p (of, place),
         generate_series(1, 3) as level
   group by 1, 2, 3
   order by 1, 2, 3`;
