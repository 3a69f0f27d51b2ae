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

const CLIENTS = {
  dashboard: { key: 0, source_ip: '203.0.113.17', user_agent: 'Grafana/12.1.0' },
  collector: { key: 1, source_ip: '203.0.113.44', user_agent: 'vector/0.49.0 (x86_64)' },
  person: { key: 0, source_ip: '198.51.100.9', user_agent: 'curl/8.14.1' },
} as const;

type Shape = readonly [
  share: number,
  client: keyof typeof CLIENTS,
  path: string,
  query: Record<string, string>,
  status?: number,
  error_code?: string,
];

const HEALTH: readonly Shape[] = [
  [4, 'dashboard', 'health/fleet', {}],
  [3, 'dashboard', 'health/connections', { per_page: '100' }],
  [1, 'dashboard', 'health/fleet', {}, 304],
  [1, 'dashboard', 'health/connections', { per_page: '100' }, 304],
  [1, 'person', 'health/connections', {}],
  [1, 'person', 'health/connections', { per_page: '500' }, 400, 'invalid_parameter'],
  [1, 'person', 'health/connections/0/checks/latest', {}, 404, 'not_found'],
  [1, 'dashboard', 'health/fleet', {}, 429, 'rate_limited'],
];
const OPS: readonly Shape[] = [
  [2, 'dashboard', 'ops/tickets', { status: 'open' }],
  [1, 'dashboard', 'ops/stats', {}],
];
const REST: readonly Shape[] = [
  [4, 'collector', 'activity', { order: 'asc', after_id: '0', per_page: '100' }],
  [1, 'collector', 'team/members', {}],
  [1, 'person', 'team/roles', {}],
];

const SHAPES: Readonly<Record<string, readonly Shape[]>> = {
  enterprise: [...HEALTH, ...OPS, ...REST],
  business: [...HEALTH, ...OPS],
  team: HEALTH,
  individual: [[1, 'dashboard', 'health/fleet', {}, 403, 'tier_insufficient']],
};

/** The requests of clients on this plan, to pick from at random. Repeated ones are more likely. */
export function requestsOf(plan: string): SampleRequest[] {
  return (SHAPES[plan] ?? []).flatMap(([share, client, path, query, status = 200, error_code = null]) => {
    const request = { ...CLIENTS[client], path: `/api/v1/${path}`, query, status, error_code };
    return Array<SampleRequest>(share).fill(request);
  });
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
