import { useQuery } from '@tanstack/react-query';
import type { Keys } from '../../../../src/console-api/keys/key-routes.ts';
import { read } from '../../api.ts';
import { FilterSelect } from '../../parts/filter-select.tsx';
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
  return (
    <div className="log-filter">
      <FilterSelect
        all="All keys"
        choices={known ?? []}
        chosen={chosen}
        label="API key"
        onChange={onChange}
        unlisted={`Key ${chosen}`}
      />
    </div>
  );
}
