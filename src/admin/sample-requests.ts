import { randomNumbers } from './sample-fleet.ts';

/** A kind of API request that sample data is made of; `key` tells which of its two keys. */
export interface SampleRequest {
  key: 0 | 1;
  path: string;
  status: number;
  error_code: string | null;
  query: Record<string, string>;
  source_ip: string;
  user_agent: string;
}

/** The keys of sample data: a dashboard's and a collector's. */
export const SAMPLE_KEYS = ['Grafana', 'SIEM collector'] as const;

const dashboard = { key: 0, source_ip: '203.0.113.17', user_agent: 'Grafana/12.1.0' } as const;
const collector = { key: 1, source_ip: '203.0.113.44', user_agent: 'vector/0.49.0 (x86_64)' } as const;
const person = { key: 0, source_ip: '198.51.100.9', user_agent: 'curl/8.14.1' } as const;
const well = { status: 200, error_code: null, query: {} };
const fleet = { ...dashboard, ...well, path: '/api/v1/health/fleet' };
const connections = { ...dashboard, ...well, path: '/api/v1/health/connections', query: { per_page: '100' } };
const tickets = { ...dashboard, ...well, path: '/api/v1/ops/tickets', query: { status: 'open' } };
const activity = {
  ...{ ...collector, ...well, path: '/api/v1/activity' },
  query: { order: 'asc', after_id: '0', per_page: '100' },
};

const health: SampleRequest[] = [
  ...[fleet, fleet, fleet, fleet, connections, connections, connections],
  { ...fleet, status: 304 },
  { ...connections, status: 304 },
  { ...person, ...well, path: '/api/v1/health/connections' },
  {
    ...person,
    path: '/api/v1/health/connections',
    query: { per_page: '500' },
    status: 400,
    error_code: 'invalid_parameter',
  },
  {
    ...person,
    path: '/api/v1/health/connections/0/checks/latest',
    query: {},
    status: 404,
    error_code: 'not_found',
  },
  { ...fleet, status: 429, error_code: 'rate_limited' },
];
const ops: SampleRequest[] = [tickets, tickets, { ...dashboard, ...well, path: '/api/v1/ops/stats' }];
const rest: SampleRequest[] = [
  ...[activity, activity, activity, activity],
  { ...collector, ...well, path: '/api/v1/team/members' },
  { ...person, ...well, path: '/api/v1/team/roles' },
];

/** The requests that clients of an account of this plan make, to pick from at random: repetition is weight. */
export function requestsOf(plan: string): SampleRequest[] {
  if (plan === 'enterprise') return [...health, ...ops, ...rest];
  if (plan === 'business') return [...health, ...ops];
  if (plan === 'team') return health;
  return [{ ...fleet, status: 403, error_code: 'tier_insufficient' }];
}

const SWING = 0.7; // the busiest hour has 1.7 / 0.3 times the requests of the quietest
const BUSIEST_HOUR = 14; // UTC

/**
 * When each of `count` requests comes, in increasing order, as shares of a history of `days` that begins at `startHour`
 * (UTC), and a number from 0 to 1 to pick the request with. Busy by day, quiet by night.
 */
export function* planRequests(
  count: number,
  history: { days: number; startHour: number },
  seed: number,
): Generator<{ at: number; pick: number }> {
  const random = randomNumbers(seed);
  const turns = 2 * Math.PI * history.days;
  const phase = Math.PI + (2 * Math.PI * (history.startHour - BUSIEST_HOUR)) / 24;
  const warp = (share: number) =>
    share + (SWING / turns) * (Math.sin(turns * share + phase) - Math.sin(phase));
  for (let n = 0; n < count; n++) {
    yield { at: warp((n + random() * 0.9) / count) / warp(1), pick: random() };
  }
}
