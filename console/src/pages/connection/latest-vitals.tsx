import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { measuresQuery } from '../../measures/measures-query.ts';
import { valueText } from '../../parts/chart/value-text.ts';
import { Facts, Section } from '../../parts/page.tsx';

/** What says most about a server's health, for all engines. The first five that it has are shown. */
const VITALS = [
  'transactions_per_second',
  'queries_per_second',
  'active_connections_count',
  'waiting_clients_count',
  'longest_client_wait_seconds',
  'active_server_connections_count',
  'longest_transaction_seconds',
  'cache_hit_ratio',
  'replication_lag_seconds',
  'deadlocks_per_second',
];
const MOST = 5;

/** The latest values of five vital signs; nothing before the first check. */
export function LatestVitals({ connectionId }: { connectionId: string }) {
  const { data } = useQuery(measuresQuery(connectionId));
  const vitals = VITALS.flatMap((metric) => {
    const values = (data?.measures ?? []).filter((one) => one.check_id === '' && one.metric === metric);
    // Of several databases or replicas, the largest value; of hit ratios, the smallest.
    const [worst] = values.toSorted((a, b) =>
      metric === 'cache_hit_ratio' ? a.value - b.value : b.value - a.value,
    );
    return worst ? [worst] : [];
  }).slice(0, MOST);
  if (vitals.length === 0) return null;
  return (
    <Section
      actions={
        <Link params={{ id: connectionId }} search={{ tab: 'charts' }} to="/connections/$id">
          All charts
        </Link>
      }
      title="Vital signs"
    >
      <Facts facts={vitals.map(({ title, value, unit }) => [title, valueText(value, unit)] as const)} />
    </Section>
  );
}
