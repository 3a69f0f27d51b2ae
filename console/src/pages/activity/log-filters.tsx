import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { memo } from 'react';
import type { Keys } from '../../../../src/console-api/keys/key-routes.ts';
import type { Members } from '../../../../src/console-api/members/member-routes.ts';
import { read } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { ConnectionFilter } from '../../parts/connection-filter.tsx';
import { DayRange } from '../../parts/day-range.tsx';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { countSet, MoreFilters } from '../../parts/more-filters.tsx';
import { Filters } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { useCan } from '../../shell/profile.ts';
import { type ActivitySearch, isSearched } from './activity-search.ts';
import { objectText } from './entry-facts.ts';
import { ACTIONS, actionText } from './entry-text.ts';

interface LogFiltersProps {
  search: ActivitySearch;
  isDown: boolean;
  tailError: Error | null;
}

const STATUSES = [
  { id: '2xx', label: '2xx, answered' },
  { id: '4xx', label: '4xx, refused' },
  ...['400', '401', '403', '404', '429'].map((id) => ({ id, label: id })),
  { id: '5xx', label: '5xx, failed' },
];

/** Which entries are listed. Memoised: the list of all actions takes as long to draw as a screen of rows. */
export const LogFilters = memo(function LogFilters({ search, isDown, tailError }: LogFiltersProps) {
  const { action_type, from, to, status } = search;
  const navigate = useNavigate({ from: '/activity' });
  const change = (changed: ActivitySearch) =>
    void navigate({ search: (old) => ({ ...old, entry: undefined, ...changed }), resetScroll: false });
  return (
    <div className="log-filters">
      <Filters>
        <div className="log-filter">
          <FilterSelect
            all="All actions"
            choices={ACTIONS}
            chosen={action_type}
            label="Action"
            onChange={(id) => change({ action_type: id })}
            unlisted={action_type && actionText(action_type)}
          />
        </div>
        <PersonFilter chosen={search.person} onChange={(person) => change({ person })} />
        <ObjectFilter chosen={search.object} onChange={(object) => change({ object })} />
        {!isSearched(search) && (
          <LiveTail change={change} isDown={isDown} search={search} tailError={tailError} />
        )}
        <MoreFilters used={countSet(search.key, status, search.address, from ?? to)}>
          <ApiKeyFilter chosen={search.key} onChange={(key) => change({ key })} />
          <div className="log-filter">
            <FilterSelect
              all="All statuses"
              choices={STATUSES}
              chosen={status}
              label="Status"
              onChange={(id) => change({ status: id })}
            />
          </div>
          <SearchBox
            label="Address or network"
            onSearch={(address) => change({ address: address || undefined })}
            value={search.address ?? ''}
          />
          <DayRange from={from} label="From" onChange={change} to={to} />
        </MoreFilters>
      </Filters>
    </div>
  );
});

function LiveTail({
  search: { live, to },
  change,
  isDown,
  tailError,
}: LogFiltersProps & { change: (changed: ActivitySearch) => void }) {
  const isLive = live === '1' && to === undefined;
  return (
    <>
      <FilterChips
        chips={[{ id: 'live', label: 'Live tail' }]}
        label="New entries"
        onChange={(id) => change({ live: id ? '1' : undefined, ...(id && { to: undefined }) })}
        value={isLive ? 'live' : null}
      />
      {isLive && (
        <span className="quiet small">
          {tailError
            ? `New entries can’t be read: ${tailError.message}`
            : isDown
              ? 'Paused while you scroll down'
              : 'Updates automatically'}
        </span>
      )}
    </>
  );
}

interface FilterProps {
  chosen: string | undefined;
  onChange: (chosen: string | undefined) => void;
}

/** Filters by the member who did it. */
function PersonFilter({ chosen, onChange }: FilterProps) {
  const can = useCan();
  const members = useQuery({
    ...read<Members>('/members'),
    enabled: can('members:read'),
  });
  const known = members.data?.data.map(({ id, name, email }) => ({
    id: String(id),
    label: name,
    description: email,
  }));
  if (!known && !chosen) return null;
  return (
    <div className="log-filter">
      <FilterSelect
        all="All people"
        choices={known ?? []}
        chosen={chosen}
        label="Person"
        onChange={onChange}
        unlisted={`Member ${chosen}`}
      />
    </div>
  );
}

/** Filters by the object that entries are about: a connection is found by name, other objects come from an entry. */
function ObjectFilter({ chosen, onChange }: FilterProps) {
  const can = useCan();
  if (chosen === undefined) {
    return (
      can('health:read') && (
        <ConnectionFilter chosen={null} onChange={(id) => id && onChange(`connection:${id}`)} />
      )
    );
  }
  return (
    <Button
      aria-label={`${objectText(chosen)}: show all objects`}
      icon="close"
      onPress={() => onChange(undefined)}
    >
      {objectText(chosen)}
    </Button>
  );
}

interface ApiKeyFilterProps {
  chosen: string | undefined;
  onChange: (chosen: string | undefined) => void;
}

/** Filters the log by one API key. */
function ApiKeyFilter({ chosen, onChange }: ApiKeyFilterProps) {
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
