import type { TicketStats } from '../../../../src/console/tickets/ticket-stats.ts';
import { SEVERITIES } from '../../../../src/vocabulary/severities.ts';
import { DayRange } from '../../parts/day-range.tsx';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { Filters } from '../../parts/page.tsx';
import { ConnectionFilter } from './connection-filter.tsx';
import type { TicketsSearch } from './tickets-search.ts';

interface TicketFiltersProps {
  search: TicketsSearch;
  onChange: (changed: TicketsSearch) => void;
  stats: TicketStats | undefined;
  /** The name of the filtered connection, taken from any ticket in the list. */
  connectionName: string | undefined;
}

/** The filters of the API's list of tickets. */
export function TicketFilters({ search, onChange, stats, connectionName }: TicketFiltersProps) {
  const { status = 'open', severity, connection_id, from, to } = search;
  // The statistics count the open tickets of the whole account.
  const open = status === 'open' && !connection_id && !from && !to ? stats : undefined;
  return (
    <div className="ticket-filters">
      <Filters>
        <ConnectionFilter
          chosen={connection_id ? (connectionName ?? `Connection ${connection_id}`) : null}
          onChange={(id) => onChange({ connection_id: id })}
        />
        <FilterChips
          chips={[
            { id: 'open', label: 'Open', status: 'open', count: stats?.open_count },
            { id: 'resolved', label: 'Resolved', status: 'resolved' },
          ]}
          label="State"
          onChange={(id) =>
            onChange({ status: id === 'open' ? undefined : id === 'resolved' ? 'resolved' : 'all' })
          }
          value={status === 'all' ? null : status}
        />
        <FilterChips
          chips={[
            { id: 'critical', label: 'Critical', status: 'critical', count: open?.critical_open },
            { id: 'warning', label: 'Warning', status: 'warning', count: open?.warning_open },
            {
              id: 'info',
              label: 'Info',
              status: 'info',
              count: open && open.open_count - open.critical_open - open.warning_open,
            },
          ]}
          label="Severity"
          onChange={(id) => onChange({ severity: SEVERITIES.find((word) => word === id) })}
          value={severity ?? null}
        />
        <DayRange from={from} label="First seen from" onChange={onChange} to={to} />
      </Filters>
    </div>
  );
}
