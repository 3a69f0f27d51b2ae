import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CheckList, Fleet } from '../../../../src/console-api/fleet/fleet-routes.ts';
import { ENGINE_NAMES, ENGINES } from '../../../../src/vocabulary/engines.ts';
import { read } from '../../api.ts';
import { counted } from '../../parts/figure.ts';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
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
  onChange: (changed: FleetSearch) => void;
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
          <FilterSelect
            all="All engines"
            choices={ENGINES.flatMap((engine) => [
              { id: engine, label: ENGINE_NAMES[engine] },
              ...versions
                .filter((version) => version.engine === engine)
                .map(({ series, connections }) => ({
                  id: `${engine} ${series}`,
                  label: `${ENGINE_NAMES[engine]} ${series}`,
                  description: counted(connections, 'connection'),
                })),
            ])}
            chosen={chosen || undefined}
            label="Engine and version"
            onChange={(id = '') => {
              const [name, version] = id.split(' ');
              onChange({ engine: ENGINES.find((engine) => engine === name), version });
            }}
            unlisted={engineText(search)}
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

interface CheckChoiceProps {
  check: string | undefined;
  onChange: (check: string | undefined) => void;
}

function CheckChoice({ check, onChange }: CheckChoiceProps) {
  const { data } = useQuery(read<CheckList>('/fleet/checks'));
  return (
    <FilterSelect
      all="All checks"
      choices={(data?.data ?? []).map(({ check_id, title, connections, severity }) => ({
        id: check_id,
        label: title,
        description: `${severity} · on ${counted(connections, 'connection')} · ${check_id}`,
      }))}
      chosen={check}
      label="Check with an open ticket"
      onChange={onChange}
    />
  );
}
