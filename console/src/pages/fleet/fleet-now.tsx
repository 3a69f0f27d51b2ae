import { queryOptions, useQuery } from '@tanstack/react-query';
import type { FleetNow } from '../../../../src/console-api/fleet/fleet-now.ts';
import { get } from '../../api.ts';
import { figure } from '../../parts/figure.ts';

const RENEWED_MS = 10_000;

type Row = FleetNow['data'][number];

const nowQuery = queryOptions({
  queryKey: ['fleet', 'now'],
  queryFn: async ({ signal }) => {
    const { data } = await get<FleetNow>('/fleet/now', {}, signal);
    return new Map(data.map((row): [number, Row] => [row.id, row]));
  },
  structuralSharing: false,
  refetchInterval: RENEWED_MS,
});

/** How many sessions are blocked on a server, or how many are active; nothing without a pulse. */
export function SessionsNow({ id }: { id: number }) {
  const { data } = useQuery({ ...nowQuery, select: (rows) => rows.get(id) });
  if (!data) return null;
  if (data.blocked > 0) return <span className="second-line blocked">{figure(data.blocked)} blocked</span>;
  return data.active === null ? null : <span className="second-line">{activeText(data.active)} active</span>;
}

/** `0.4`, `12`. */
function activeText(active: number): string {
  return active < 9.95 ? active.toFixed(1) : figure(Math.round(active));
}
