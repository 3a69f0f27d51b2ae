/** Requests to the console's read-only routes, by method and path as in `ROUTES`. */
export type ConsoleRead = [route: string, path: string, body?: object];

/** The rows of an account that the requests name. */
export interface OwnRows {
  connection: number;
  key: number;
  ticket: number;
  /** Of `writeAlerts`; 0 = none. */
  alert?: number;
  /** Of `writeDeliveries`; 0 = none. */
  destination?: number;
  delivery?: number;
  /** Two runs of the connection, the earlier first. */
  runs: [number, number];
}

/** The rows of account `$1`. */
export const selectOwnRows = `
  select connection, key, ticket,
         (select array[min(health_check_id), max(health_check_id)] from health_check
           where account_id = $1 and connection_id = connection) as runs
    from (select (select max(connection_id) from connection where account_id = $1) as connection,
                 (select max(api_key_id) from api_key where account_id = $1) as key,
                 (select max(ticket_id) from ticket where account_id = $1) as ticket) own`;

/** Every read in the console, with parameters that change the statement. */
export function consoleReads({
  connection,
  key,
  ticket,
  alert = 0,
  destination = 0,
  delivery = 0,
  runs: [earlier, later],
}: OwnRows): ConsoleRead[] {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const before = `${daysAgo(-1)}T00:00:00.000000Z_9`;
  const fleet = `/fleet/measures?metric=transactions_per_second&connections=${connection}`;
  return [
    ['GET /me', '/me'],
    ['GET /sessions', '/sessions'],
    ['POST /me/passkeys/options', '/me/passkeys/options', {}],
    ['GET /account', '/account'],
    ['GET /members', '/members'],
    ['GET /keys', '/keys'],
    ['GET /keys/windows', '/keys/windows'],
    ['GET /keys/:id/requests', `/keys/${key}/requests`],
    ['GET /keys/:id/requests', `/keys/${key}/requests?before_id=50`],
    ['GET /keys/:id/usage', `/keys/${key}/usage`],
    ['GET /keys/:id/refusals', `/keys/${key}/refusals`],
    ['GET /fleet', '/fleet'],
    ['GET /fleet', '/fleet?tags=env:production,pci&engine=mysql&version=8.0'],
    ['GET /fleet', '/fleet?check=PG_UNUSED_INDEX'],
    ['GET /fleet/checks', '/fleet/checks'],
    ['GET /fleet/now', '/fleet/now'],
    ['GET /tags', '/tags'],
    ['GET /silences', '/silences'],
    ['GET /own-checks', '/own-checks'],
    ['GET /collectors', '/collectors'],
    ['GET /thresholds', '/thresholds'],
    ['GET /thresholds/connections', '/thresholds/connections?check=PG_DEAD_TUPLES'],
    ['GET /thresholds/export', '/thresholds/export'],
    ['GET /connections/:id', `/connections/${connection}`],
    ['GET /connections/:id/run', `/connections/${connection}/run`],
    ['GET /connections/:id/live', `/connections/${connection}/live`], // sample data has no server
    ['GET /connections/:id/runs', `/connections/${connection}/runs`],
    ['GET /connections/:id/runs', `/connections/${connection}/runs?before=${later}&limit=5`],
    [
      'GET /connections/:id/runs/compare',
      `/connections/${connection}/runs/compare?from=${earlier}&to=${later}`,
    ],
    ['GET /connections/:id/measures', `/connections/${connection}/measures`],
    ...[1, 5, 30, 300].map(
      (days): ConsoleRead => [
        'GET /connections/:id/history',
        `/connections/${connection}/history?series=1,2,3&from=${daysAgo(days)}&to=${daysAgo(0)}`,
      ],
    ),
    ['GET /connections/:id/changes', `/connections/${connection}/changes?to=${daysAgo(-1)}`],
    [
      'GET /connections/:id/changes',
      `/connections/${connection}/changes?kinds=setting&before=${before}&limit=5&from=${daysAgo(9)}&to=${daysAgo(-1)}`,
    ],
    [
      'GET /connections/:id/queries',
      `/connections/${connection}/queries?from=${daysAgo(9)}&to=${daysAgo(-1)}&limit=5`,
    ],
    ['GET /connections/:id/queries', `/connections/${connection}/queries?own=shown&role=app&database=shop`],
    ['GET /connections/:id/queries/history', `/connections/${connection}/queries/history?query=1&role=app`],
    [
      'GET /connections/:id/load',
      `/connections/${connection}/load?by=role&from=${daysAgo(9)}&to=${daysAgo(-1)}`,
    ],
    ['GET /connections/:id/facts', `/connections/${connection}/facts`],
    [
      'GET /connections/:id/episodes',
      `/connections/${connection}/episodes?from=${daysAgo(9)}&to=${daysAgo(-1)}`,
    ],
    ['GET /connections/:id/watch', `/connections/${connection}/watch`],
    ['GET /alerts', '/alerts'],
    ['GET /alerts', '/alerts?state=resolved'],
    ['GET /alerts/count', '/alerts/count'],
    ['GET /alerts/:id', `/alerts/${alert}`],
    ['GET /alert-rules', '/alert-rules'],
    ['GET /maintenance', '/maintenance'],
    ['GET /views', '/views?page=fleet'],
    ['GET /onboarding', '/onboarding'],
    ['GET /destinations', '/destinations'],
    ...(destination === 0
      ? []
      : ([
          ['GET /destinations/:id/deliveries', `/destinations/${destination}/deliveries`],
          ['GET /destinations/:id/deliveries', `/destinations/${destination}/deliveries?kind=test&limit=1`],
          ['GET /deliveries/:id', `/deliveries/${delivery}`],
        ] as ConsoleRead[])),
    ['GET /fleet/metrics', '/fleet/metrics'],
    ['GET /fleet/measures', fleet],
    ['GET /fleet/measures', `${fleet}&range=30d`],
    ['GET /connections/:id/backups', `/connections/${connection}/backups`],
    ['GET /connections/:id/silences', `/connections/${connection}/silences`],
    ['GET /connections/login-sql', '/connections/login-sql?engine=postgres'],
    ['GET /tickets/:id', `/tickets/${ticket}`],
    ['GET /tickets/:id/changes', `/tickets/${ticket}/changes`],
    ['GET /tickets/:id/episodes', `/tickets/${ticket}/episodes`],
    ['GET /tickets/stats', '/tickets/stats'],
    ['GET /tickets/counts', '/tickets/counts'],
    ['GET /tickets', '/tickets'],
    ...['check', 'connection', 'environment', 'tags', 'severity', 'state', 'assignee'].map(
      (group): ConsoleRead => ['GET /tickets', `/tickets?list=all&group=${group}&sort=connection&q=a%20b`],
    ),
    ...['new', 'snoozed', 'silenced', 'resolved'].map(
      (list): ConsoleRead => [
        'GET /tickets',
        `/tickets?list=${list}&assignee=me&connection_id=${connection}&severity=info&from=${daysAgo(9)}&to=${daysAgo(0)}`,
      ],
    ),
    ['GET /tickets/ids', '/tickets/ids?assignee=nobody&sort=assignee&reverse=1'],
    ['GET /tickets', '/tickets?mentioned=me&sort=severity&tags=pci,env:production'],
    ['GET /tickets/people', '/tickets/people'],
    ['GET /tickets/:id/comments', `/tickets/${ticket}/comments`],
    ['GET /activity/verified', '/activity/verified'],
    ['GET /activity/export', '/activity/export'],
    ...[
      '',
      'key_id=1',
      'status=2xx&from=2020-01-01',
      'address=203.0.113.0/24',
      'member_id=1&to=2090-01-01',
    ].map((query): ConsoleRead => ['GET /activity/search', `/activity/search?${query}`]),
    ['GET /activity/search', `/activity/search?object=connection:${connection}&before_id=90`],
    ['GET /activity/search', '/activity/search?object=ticket:1&action_type=ticket_opened'],
    ['GET /activity/export', '/activity/export?format=csv&action_type=api_request'],
    ['GET /activity/export', '/activity/export?action_type=ticket_opened&from=2020-01-01&to=2090-01-01'],
    ['GET /read/health/connections', '/read/health/connections'],
    [
      'GET /read/health/connections/:id/checks/latest',
      `/read/health/connections/${connection}/checks/latest`,
    ],
    ['GET /read/health/fleet', '/read/health/fleet'],
    ['GET /read/ops/tickets', '/read/ops/tickets'],
    ['GET /read/ops/tickets', '/read/ops/tickets?status=open&severity=critical&from=2020-01-01'],
    ['GET /read/ops/tickets', `/read/ops/tickets?connection_id=${connection}&page=2&per_page=5`],
    ['GET /read/ops/stats', '/read/ops/stats'],
    ['GET /read/activity', '/read/activity'],
    ['GET /read/activity', '/read/activity?action_type=api_request&order=asc&after_id=3'],
    ['GET /read/activity', '/read/activity?from=2020-01-01&to=2090-01-01&page=2&per_page=5'],
    ['GET /read/team/members', '/read/team/members'],
    ['GET /read/team/roles', '/read/team/roles'],
  ];
}

/** Signs in the owner `$2` of account `$1` with a session whose token has the SHA-256 `$3`. */
export const insertSession = `
  with person as (
    insert into login (account_id, email, name) values ($1, $2, $2) returning login_id
  ), member as (
    insert into member (account_id, name, email, roles, status, joined_at, login_id)
    select $1, $2, $2, array['owner'], 'active', now(), login_id from person
  )
  insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent)
  select $3, login_id, $1, now() + interval '1 day', '127.0.0.1', '' from person`;

/** Gives the member `$2` of account `$1` the name `$3` and the role `$4`. */
export const nameMember = `
  update member set name = $3, roles = array[$4] where account_id = $1 and email = $2 returning member_id as id`;
