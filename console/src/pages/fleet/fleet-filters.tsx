import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CheckList, Fleet } from '../../../../src/console/fleet/fleet-routes.ts';
import { ENGINE_NAMES, ENGINES } from '../../../../src/vocabulary/engines.ts';
import { get } from '../../api.ts';
import { Select } from '../../parts/field.tsx';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { Filters } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { statusText } from '../../parts/status-mark.tsx';
import { TagFilter } from '../../parts/tag-filter.tsx';
import { type FleetSearch, STATUS_FILTERS } from './fleet-search.ts';

interface FleetFiltersProps {
  /** Buttons beside the filters. */
  actions: ReactNode;
  search: FleetSearch;
  summary: Fleet['summary'] | undefined;
  onChange: (changed: { [Name in keyof FleetSearch]?: FleetSearch[Name] | undefined }) => void;
}

/** Filters of the fleet: text, status, engine, tags, and a check that found something. */
export function FleetFilters({ actions, search, summary, onChange }: FleetFiltersProps) {
  const tags = search.tags?.split(',') ?? [];
  return (
    <>
      <Filters>
        <SearchBox label="Search by name or host" onSearch={(q) => onChange({ q })} value={search.q ?? ''} />
        <FilterChips
          chips={STATUS_FILTERS.map((status) => ({
            ...{ id: status, label: statusText(status), status, count: summary?.[status] },
          }))}
          label="Status"
          onChange={(status) => onChange({ status: STATUS_FILTERS.find((chip) => chip === status) })}
          value={search.status ?? null}
        />
      </Filters>
      <div className="fleet-filters">
        <TagFilter
          chosen={tags}
          onChange={(chosen) => onChange({ tags: chosen.length > 0 ? chosen.join(',') : undefined })}
        />
        <Select
          choices={[
            { id: '', label: 'Every engine' },
            ...ENGINES.map((id) => ({ id, label: ENGINE_NAMES[id] })),
          ]}
          hideLabel
          label="Engine"
          onChange={(id) => onChange({ engine: ENGINES.find((engine) => engine === id) })}
          value={search.engine ?? ''}
        />
        <CheckChoice check={search.check} onChange={(check) => onChange({ check })} />
        {actions}
      </div>
    </>
  );
}

function CheckChoice({
  check,
  onChange,
}: {
  check: string | undefined;
  onChange: (check: string | undefined) => void;
}) {
  const { data } = useQuery({
    queryKey: ['fleet', 'checks'],
    queryFn: ({ signal }) => get<CheckList>('/fleet/checks', {}, signal),
  });
  const found = data?.data ?? [];
  const isListed = check === undefined || found.some(({ check_id }) => check_id === check);
  return (
    <Select
      choices={[
        { id: '', label: 'Every check' },
        ...found.map(({ check_id, title, connections, severity }) => ({
          ...{ id: check_id, label: title },
          description: `${severity} · on ${connections.toLocaleString('en')} ${connections === 1 ? 'connection' : 'connections'} · ${check_id}`,
        })),
        ...(isListed ? [] : [{ id: check, label: check }]),
      ]}
      hideLabel
      label="Check with an open ticket"
      onChange={(id) => onChange(id === '' ? undefined : id)}
      value={check ?? ''}
    />
  );
}
