import type { History } from './sample-fleet.ts';
import { randomNumbers } from './sample-random.ts';

/** A kind of API request in sample data. `key` is the index of its key in {@link SAMPLE_KEYS}. */
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
  ...collector,
  ...well,
  path: '/api/v1/activity',
  query: { order: 'asc', after_id: '0', per_page: '100' },
};

const health: SampleRequest[] = [
  fleet,
  fleet,
  fleet,
  fleet,
  connections,
  connections,
  connections,
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
  activity,
  activity,
  activity,
  activity,
  { ...collector, ...well, path: '/api/v1/team/members' },
  { ...person, ...well, path: '/api/v1/team/roles' },
];

/** The requests of clients on this plan, to pick from at random. Repeated ones are more likely. */
export function requestsOf(plan: string): SampleRequest[] {
  if (plan === 'enterprise') return [...health, ...ops, ...rest];
  if (plan === 'business') return [...health, ...ops];
  if (plan === 'team') return health;
  return [{ ...fleet, status: 403, error_code: 'tier_insufficient' }];
}

const HOUR_US = 3_600_000_000;
const BUSIEST_HOUR = 13; // UTC
const SWING = 0.5; // the busiest hour has (1 + 0.5) / (1 - 0.5) = 3 times the requests of the quietest
const WEEKEND = 0.6; // of a weekday's

/**
 * The relative traffic at an instant. It changes only by whole hours, so that a history that starts a little later is
 * the same.
 */
function traffic(at: number): number {
  const hour = Math.floor(at / HOUR_US);
  const weekend = [2, 3].includes(Math.floor(hour / 24) % 7); // 1970-01-01 was a Thursday
  const day = 1 + SWING * Math.cos((2 * Math.PI * ((hour % 24) - BUSIEST_HOUR)) / 24);
  return weekend ? day * WEEKEND : day;
}

/** A planned request: its time in microseconds since 1970, and the index of its kind. */
export interface PlannedRequest {
  at: number;
  kind: number;
}

/** Plans `count` requests in order of time, more on weekdays and by day, fewer on weekends and at night. */
export function* planRequests(
  count: number,
  { start, end }: History,
  seed: number,
  kinds: number,
): Generator<PlannedRequest> {
  const random = randomNumbers(seed);
  const hours = Math.ceil((end - start) / HOUR_US);
  const share = (hour: number) =>
    traffic(start + hour * HOUR_US) * Math.min(1, (end - start) / HOUR_US - hour);
  let whole = 0;
  for (let hour = 0; hour < hours; hour++) whole += share(hour);
  let [passed, made] = [0, 0];
  for (let hour = 0; hour < hours; hour++) {
    passed += share(hour);
    const some = Math.round((count * passed) / whole) - made;
    const from = start + hour * HOUR_US;
    const length = Math.min(HOUR_US, end - from);
    for (let n = 0; n < some; n++) {
      const at = Math.floor(from + ((n + random() * 0.9) / some) * length);
      yield { at, kind: Math.floor(random() * kinds) };
    }
    made += some;
  }
}
