import type { KeyUsage } from '../../../../src/console-api/keys/key-use-routes.ts';

type Counted = KeyUsage['data'];

/** The kinds of answers, in the order of the chart's parts from below. */
export const KINDS = ['answered', 'refused', 'limited'] as const;

export type Kind = (typeof KINDS)[number];

/** The requests of a day by kind. */
export type UsageDay = { day: string } & Record<Kind, number>;

/** What an answer's status counts as: answered, over the limit, or refused for another reason. */
function kindOf(status: number): Kind {
  if (status === 429) return 'limited';
  return status < 400 ? 'answered' : 'refused';
}

/** The 30 days up to `today`, each with its requests to an endpoint; null = paths that are none, undefined = all. */
export function usageDays(data: Counted, today: string, endpoint: string | null | undefined): UsageDay[] {
  const last = Date.parse(`${today}T00:00:00Z`);
  const days = Array.from({ length: 30 }, (_, at): UsageDay => {
    const day = new Date(last - (29 - at) * 86_400_000).toISOString().slice(0, 10);
    return { day, answered: 0, refused: 0, limited: 0 };
  });
  const byDay = new Map(days.map((one) => [one.day, one]));
  for (const { day, endpoint: asked, status, requests } of data) {
    const one = byDay.get(day);
    if (one && (endpoint === undefined || asked === endpoint)) one[kindOf(status)] += requests;
  }
  return days;
}

/** All requests of a day. */
export function totalOf({ answered, refused, limited }: UsageDay): number {
  return answered + refused + limited;
}

/** Requests by endpoint and status, the most used endpoint first. */
export function usageByEndpoint(data: Counted): {
  statuses: number[];
  rows: { endpoint: string | null; total: number; byStatus: Map<number, number> }[];
} {
  const rows = [...Map.groupBy(data, ({ endpoint }) => endpoint)].map(([endpoint, counted]) => {
    const byStatus = new Map<number, number>();
    for (const { status, requests } of counted) byStatus.set(status, (byStatus.get(status) ?? 0) + requests);
    return { endpoint, byStatus, total: counted.reduce((sum, { requests }) => sum + requests, 0) };
  });
  return {
    statuses: [...new Set(data.map(({ status }) => status))].sort((a, b) => a - b),
    rows: rows.toSorted((a, b) => b.total - a.total),
  };
}
