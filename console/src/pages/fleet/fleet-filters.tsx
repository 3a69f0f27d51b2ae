import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CheckList, Fleet } from '../../../../src/console-api/fleet/fleet-routes.ts';
import { ENGINE_NAMES, ENGINES } from '../../../../src/vocabulary/engines.ts';
import { read } from '../../api.ts';
import { Select } from '../../parts/field.tsx';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { countSet, MoreFilters } from '../../parts/more-filters.tsx';
import { Filters } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { statusText } from '../../parts/status-mark.tsx';
import { TagFilter } from '../../parts/tag-filter.tsx';
import { type FleetSearch, STATUS_FILTERS } from './fleet-search.ts';

interface FleetFiltersProps {
  /** At the end of the row. */
  actions: ReactNode;
  /** Chooses what the lines show, and stands among the filters that are used less. */
  lines: ReactNode;
  search: FleetSearch;
  summary: Fleet['summary'] | undefined;
  versions: Fleet['versions'] | undefined;
  onChange: (changed: { [Name in keyof FleetSearch]?: FleetSearch[Name] | undefined }) => void;
}

/** Filters of the fleet: text, status, engine, tags, and a check that found something. */
export function FleetFilters({
  actions,
  lines,
  search,
  summary,
  versions = [],
  onChange,
}: FleetFiltersProps) {
  const tags = search.tags?.split(',') ?? [];
  const { engine = '', version } = search;
  const chosen = version === undefined ? engine : `${engine} ${version}`;
  const isListed =
    version === undefined || versions.some((one) => one.engine === engine && one.series === version);
  return (
    <div className="fleet-filters">
      <Filters>
        <SearchBox label="Search by name or host" onSearch={(q) => onChange({ q })} value={search.q ?? ''} />
        <FilterChips
          chips={STATUS_FILTERS.map((status) => ({
            id: status,
            label: statusText(status),
            status,
            count: summary?.[status],
          }))}
          label="Status"
          onChange={(status) => onChange({ status: STATUS_FILTERS.find((chip) => chip === status) })}
          value={search.status ?? null}
        />
        <MoreFilters
          actions={actions}
          used={countSet(search.tags, search.engine ?? version, search.check, search.metric, search.show)}
        >
          <TagFilter
            chosen={tags}
            onChange={(chosen) => onChange({ tags: chosen.length > 0 ? chosen.join(',') : undefined })}
          />
          <Select
            choices={[
              { id: '', label: 'All engines' },
              ...ENGINES.flatMap((engine) => [
                { id: engine, label: ENGINE_NAMES[engine] },
                ...versions
                  .filter((version) => version.engine === engine)
                  .map(({ series, connections }) => ({
                    id: `${engine} ${series}`,
                    label: `${ENGINE_NAMES[engine]} ${series}`,
                    description:
                      connections === 1 ? '1 connection' : `${connections.toLocaleString('en')} connections`,
                  })),
              ]),
              ...(isListed ? [] : [{ id: chosen, label: engineText(search) }]),
            ]}
            hideLabel
            label="Engine and version"
            onChange={(id) => {
              const [name, version] = id.split(' ');
              onChange({ engine: ENGINES.find((engine) => engine === name), version });
            }}
            value={chosen}
          />
          <CheckChoice check={search.check} onChange={(check) => onChange({ check })} />
          {lines}
        </MoreFilters>
      </Filters>
    </div>
  );
}

/** An engine and a version as text; any engine of this version, if it is not given. */
export function engineText({ engine, version = '' }: Pick<FleetSearch, 'engine' | 'version'>): string {
  return `${engine === undefined ? 'version' : ENGINE_NAMES[engine]} ${version}`.trim();
}

function CheckChoice({
  check,
  onChange,
}: {
  check: string | undefined;
  onChange: (check: string | undefined) => void;
}) {
  const { data } = useQuery(read<CheckList>('/fleet/checks'));
  const found = data?.data ?? [];
  const isListed = check === undefined || found.some(({ check_id }) => check_id === check);
  return (
    <Select
      choices={[
        { id: '', label: 'All checks' },
        ...found.map(({ check_id, title, connections, severity }) => ({
          id: check_id,
          label: title,
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
