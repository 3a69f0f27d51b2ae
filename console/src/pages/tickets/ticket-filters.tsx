import { SEVERITIES } from '../../../../src/vocabulary/severities.ts';
import type { TicketGroup, TicketSort } from '../../../../src/vocabulary/ticket-lists.ts';
import { ConnectionFilter } from '../../parts/connection-filter.tsx';
import { DayRange } from '../../parts/day-range.tsx';
import { Select } from '../../parts/field.tsx';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { countSet, MoreFilters } from '../../parts/more-filters.tsx';
import { Filters } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { statusText } from '../../parts/status-mark.tsx';
import { TagFilter } from '../../parts/tag-filter.tsx';
import { useProfile } from '../../shell/profile.ts';
import { filterCounts } from './ticket-counts.ts';
import { useCounts, usePeople } from './tickets-query.ts';
import { LISTS, type TicketsSearch, usualSort } from './tickets-search.ts';

interface TicketFiltersProps {
  search: TicketsSearch;
  onChange: (changed: TicketsSearch) => void;
  /** The name of the filtered connection, taken from any ticket in the list. */
  connectionName: string | undefined;
}

const GROUPS: Record<TicketGroup, string> = {
  check: 'check',
  connection: 'connection',
  environment: 'environment',
  tags: 'tags of the connection',
  severity: 'severity',
  state: 'state',
  assignee: 'assignee',
};

const SORTS: Record<TicketSort, string> = {
  first_seen: 'newest',
  last_seen: 'last found',
  severity: 'severity',
  title: 'title',
  connection: 'connection',
  assignee: 'assignee',
};

const STATES = ['open', 'new', 'acknowledged', 'snoozed', 'silenced', 'resolved'] as const;

/** Which tickets are listed, and how. All of it is in the URL. */
export function TicketFilters({ search, onChange, connectionName }: TicketFiltersProps) {
  const { status = 'open', severity, connection_id, q, from, to, group, sort = usualSort(search) } = search;
  const { reverse } = search;
  const counts = useCounts(search);
  const count = counts.data && filterCounts(counts.data.data, search);
  return (
    <div className="ticket-filters">
      <Filters>
        <SearchBox
          label="Search tickets"
          onSearch={(text) => onChange({ q: text || undefined })}
          value={q ?? ''}
        />
        <FilterChips
          chips={STATES.map((id) => ({ id, label: statusText(id), status: id, count: count?.list(id) }))}
          label="State"
          onChange={(id) => {
            const list = LISTS.find((name) => name === id) ?? 'all';
            onChange({ status: list === 'open' ? undefined : list });
          }}
          value={status === 'all' ? null : status}
        />
        <MoreFilters
          used={countSet(severity, connection_id, search.assignee, search.tags, search.mentioned, from ?? to)}
        >
          <FilterChips
            chips={SEVERITIES.map((id) => ({
              id,
              label: statusText(id),
              status: id,
              count: count?.severity(id),
            }))}
            label="Severity"
            onChange={(id) => onChange({ severity: SEVERITIES.find((word) => word === id) })}
            value={severity ?? null}
          />
          <AssigneeFilter assignee={search.assignee} onChange={onChange} />
          <FilterChips
            chips={[{ id: 'me', label: 'Mentions me', count: count?.mentioned }]}
            label="Comments"
            onChange={(id) => onChange({ mentioned: id === 'me' ? 'me' : undefined })}
            value={search.mentioned ?? null}
          />
          <TagFilter
            chosen={search.tags?.split(',') ?? []}
            onChange={(tags) => onChange({ tags: tags.length > 0 ? tags.join(',') : undefined })}
          />
          <ConnectionFilter
            chosen={connection_id ? (connectionName ?? `Connection ${connection_id}`) : null}
            onChange={(id) => onChange({ connection_id: id })}
          />
          <DayRange from={from} label="First seen from" onChange={onChange} to={to} />
          <FilterSelect
            all="No groups"
            choices={Object.entries(GROUPS).map(([id, word]) => ({ id, label: `Group by ${word}` }))}
            chosen={group}
            label="Groups"
            onChange={(id) => onChange({ group: id as TicketGroup | undefined })}
          />
          <Select
            choices={Object.entries(SORTS).map(([id, word]) => ({ id, label: `Sort by ${word}` }))}
            hideLabel
            label="Order"
            onChange={(id) =>
              onChange({
                sort: id === usualSort(search) ? undefined : (id as TicketSort),
                reverse: undefined,
              })
            }
            value={sort}
          />
          <FilterChips
            chips={[{ id: '1', label: 'Reverse order' }]}
            label="Direction"
            onChange={(id) => onChange({ reverse: id === '1' ? '1' : undefined })}
            value={reverse ?? null}
          />
        </MoreFilters>
      </Filters>
    </div>
  );
}

/** Whether a list is restricted by more than status and severity. */
export function isNarrowed({
  connection_id,
  assignee,
  tags,
  mentioned,
  q,
  from,
  to,
}: TicketsSearch): boolean {
  return [connection_id, assignee, tags, mentioned, q, from, to].some((value) => value !== undefined);
}

interface AssigneeFilterProps {
  assignee: string | undefined;
  onChange: (changed: TicketsSearch) => void;
}

function AssigneeFilter({ assignee, onChange }: AssigneeFilterProps) {
  const people = usePeople();
  const { member } = useProfile();
  const others = (people.data?.data ?? []).filter(({ id }) => id !== member.id);
  return (
    <FilterSelect
      all="Any assignee"
      choices={[
        { id: 'me', label: 'Assigned to me' },
        { id: 'nobody', label: 'Unassigned' },
        ...others.map(({ id, name }) => ({ id: String(id), label: name })),
      ]}
      chosen={assignee}
      label="Assignee"
      onChange={(id) => onChange({ assignee: id })}
      unlisted={`Member ${assignee}`}
    />
  );
}
