import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Keys } from '../../../../src/console/keys/key-routes.ts';
import { get } from '../../api.ts';
import { Select } from '../../parts/field.tsx';
import { useCan } from '../../shell/profile.ts';

/** Filters the log by one API key; the other filters are for the whole log. */
export function ApiKeyFilter({ chosen }: { chosen: string | undefined }) {
  const can = useCan();
  const navigate = useNavigate({ from: '/activity' });
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => get<Keys>('/keys', {}, signal),
    enabled: can('keys:read'),
  });
  const all = keys.data?.data;
  const isShared = (name: string) => (all ?? []).filter((key) => key.name === name).length > 1;
  const known = all?.map(({ id, name, last_four }) => ({
    id: String(id),
    label: isShared(name) ? `${name} (…${last_four})` : name,
    description: `dbv_live_…${last_four}`,
  }));
  if (!known && !chosen) return null;
  const choices = known?.some(({ id }) => id === chosen)
    ? known
    : [...(known ?? []), ...(chosen ? [{ id: chosen, label: `Key ${chosen}` }] : [])];
  return (
    <div className="key-filter">
      <Select
        choices={[{ id: '', label: 'All keys' }, ...choices]}
        hideLabel
        label="API key"
        onChange={(key) => void navigate({ search: key ? { key } : {}, resetScroll: false })}
        value={chosen ?? ''}
      />
    </div>
  );
}
