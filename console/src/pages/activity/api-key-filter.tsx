import { useQuery } from '@tanstack/react-query';
import type { Keys } from '../../../../src/console-api/keys/key-routes.ts';
import { read } from '../../api.ts';
import { Select } from '../../parts/field.tsx';
import { useCan } from '../../shell/profile.ts';

interface ApiKeyFilterProps {
  chosen: string | undefined;
  onChange: (chosen: string | undefined) => void;
}

/** Filters the log by one API key. */
export function ApiKeyFilter({ chosen, onChange }: ApiKeyFilterProps) {
  const can = useCan();
  const keys = useQuery({
    ...read<Keys>('/keys'),
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
    <div className="log-filter">
      <Select
        choices={[{ id: '', label: 'All keys' }, ...choices]}
        hideLabel
        label="API key"
        onChange={(key) => onChange(key || undefined)}
        value={chosen ?? ''}
      />
    </div>
  );
}
