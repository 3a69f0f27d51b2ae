import { queryOptions, useQuery } from '@tanstack/react-query';
import type { FleetNow } from '../../../../src/console-api/fleet/fleet-now.ts';
import { get } from '../../api.ts';
import { valueText } from '../../parts/chart/value-text.ts';
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

/** What happens on a server now; undefined without a pulse and a run. */
function useServerNow(id: number): Row | undefined {
  return useQuery({ ...nowQuery, select: (rows) => rows.get(id) }).data;
}

/** A live number; nothing while it is unknown, so that a phone leaves its label out too. */
function Live({ text, isBelow = false }: { text: string | null; isBelow?: boolean | undefined }) {
  if (text === null) return isBelow ? null : <span className="no-check" />;
  return <span className={isBelow ? 'live second-line' : 'live'}>{text}</span>;
}

/** `0.4`, `12`. */
function activeText(active: number): string {
  return active < 9.95 ? active.toFixed(1) : figure(Math.round(active));
}

interface NowProps {
  id: number;
  /** It stands below another number, and says what it is. */
  isBelow?: boolean;
}

/** The average number of active sessions in the last minute. */
export function ActiveNow({ id }: NowProps) {
  const active = useServerNow(id)?.active ?? null;
  return <Live text={active === null ? null : activeText(active)} />;
}

/** How many sessions wait for others. */
export function BlockedNow({ id, isBelow }: NowProps) {
  const { blocked = 0, active = null } = useServerNow(id) ?? {};
  if (blocked === 0) return <Live isBelow={isBelow} text={active === null || isBelow ? null : '0'} />;
  return (
    <strong className={isBelow ? 'blocked second-line' : 'blocked'}>
      {figure(blocked)}
      {isBelow && ' blocked'}
    </strong>
  );
}

/** Transactions a second of PostgreSQL, queries a second of the others. */
export function Throughput({ id }: NowProps) {
  const { transactions = null, queries = null } = useServerNow(id) ?? {};
  const value = transactions ?? queries;
  const unit = transactions === null ? 'queries/s' : 'tx/s';
  return <Live text={value === null ? null : `${valueText(value, 'count')} ${unit}`} />;
}

/** How far a replica is behind. */
export function ReplicaLag({ id, isBelow }: NowProps) {
  const lag = useServerNow(id)?.lag ?? null;
  const text = lag === null ? null : valueText(lag, 'seconds');
  return <Live isBelow={isBelow} text={text !== null && isBelow ? `lag ${text}` : text} />;
}
