import './activity.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { memo, useEffect, useRef } from 'react';
import { apiUrl } from '../../api.ts';
import { announce } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { rangeEnd, rangeStart } from '../../parts/day.ts';
import { DayRange } from '../../parts/day-range.tsx';
import { Select } from '../../parts/field.tsx';
import { figure } from '../../parts/figure.ts';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { Icon } from '../../parts/icons.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Filters, Page } from '../../parts/page.tsx';
import { Loaded, Message, NoPermission } from '../../parts/states.tsx';
import { useCan } from '../../shell/profile.ts';
import type { ActivitySearch } from './activity-search.ts';
import { ApiKeyFilter } from './api-key-filter.tsx';
import { KeyRequests } from './api-key-requests.tsx';
import { EntryList } from './entry-list.tsx';
import { ACTIONS, actionText } from './entry-text.ts';
import { useIsScrolledDown } from './is-scrolled-down.ts';
import { LogIntegrity } from './log-integrity.tsx';
import { SingleEntry } from './single-entry.tsx';
import { useEntries } from './use-entries.ts';

/** The activity log: API requests, changes and health checks. */
export function ActivityPage() {
  const can = useCan();
  const search = useSearch({ from: '/in/activity' });
  return (
    <Page
      actions={can('activity:read') && search.key === undefined && <Export search={search} />}
      description="Every API request, change and health check, in order and without gaps."
      title="Activity"
    >
      {!can('activity:read') ? (
        <NoPermission permission="activity:read" />
      ) : search.key === undefined ? (
        <Log search={search} />
      ) : (
        <>
          <Filters>
            <ApiKeyFilter chosen={search.key} />
          </Filters>
          <KeyRequests id={search.key} key={search.key} open={search.entry} />
        </>
      )}
    </Page>
  );
}

/** Exports the filtered entries, one JSON object per line, oldest first. */
function Export({ search: { action_type, from, to } }: { search: ActivitySearch }) {
  const href = apiUrl('/activity/export', { action_type, from: rangeStart(from), to: rangeEnd(to) });
  return (
    <a className="button plain" download href={href}>
      <Icon name="download" />
      <span>Export NDJSON</span>
    </a>
  );
}

function Log({ search }: { search: ActivitySearch }) {
  const { action_type, to, entry: open } = search;
  const isDown = useIsScrolledDown();
  const isLive = search.live === '1' && to === undefined && !isDown;
  const { list, tailError, entries, total } = useEntries(search, isLive);
  const navigate = useNavigate({ from: '/activity' });
  useAnnounced(isLive, entries[0]?.id ?? 0);
  return (
    <>
      <LogFilters isDown={isDown} search={search} tailError={tailError} />
      <Loaded query={list}>
        {() =>
          entries.length === 0 ? (
            <Message
              actions={<Button onPress={() => void navigate({ search: {} })}>Show all entries</Button>}
              icon="search"
              title="No entry matches"
            >
              Try other filters.
            </Message>
          ) : (
            <>
              <LogIntegrity entries={entries} isOfOneKind={action_type !== undefined} />
              {open && !entries.some(({ id }) => String(id) === open) && <SingleEntry id={Number(open)} />}
              <EntryList
                entries={entries}
                isOfOneKind={action_type !== undefined}
                onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
                open={open}
              />
              <p className="quiet small">
                {figure(entries.length)} of {figure(Math.max(total, entries.length))} entries
              </p>
              <MoreButton list={list} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

interface LogFiltersProps {
  search: ActivitySearch;
  isDown: boolean;
  tailError: Error | null;
}

/** Memoised: the list of all actions takes as long to draw as a screen of rows. */
const LogFilters = memo(function LogFilters({ search, isDown, tailError }: LogFiltersProps) {
  const { action_type, from, to, live } = search;
  const navigate = useNavigate({ from: '/activity' });
  const change = (changed: ActivitySearch) =>
    void navigate({ search: (old) => ({ ...old, entry: undefined, ...changed }), resetScroll: false });
  const kinds =
    action_type === undefined || ACTIONS.some(({ id }) => id === action_type)
      ? ACTIONS
      : [...ACTIONS, { id: action_type, label: actionText(action_type) }];
  return (
    <Filters>
      <div className="kind-filter">
        <Select
          choices={[{ id: '', label: 'All actions' }, ...kinds]}
          hideLabel
          label="Action"
          onChange={(id) => change({ action_type: id || undefined })}
          value={action_type ?? ''}
        />
      </div>
      <ApiKeyFilter chosen={undefined} />
      <DayRange from={from} label="From" onChange={change} to={to} />
      <FilterChips
        chips={[{ id: 'live', label: 'Live tail' }]}
        label="New entries"
        onChange={(id) => change({ live: id ? '1' : undefined, ...(id && { to: undefined }) })}
        value={live === '1' && to === undefined ? 'live' : null}
      />
      {live === '1' && to === undefined && (
        <span className="quiet small">
          {tailError
            ? `New entries can’t be read: ${tailError.message}`
            : isDown
              ? 'Paused while you scroll down'
              : 'Updates automatically'}
        </span>
      )}
    </Filters>
  );
});

/** Announces new entries to screen readers, at most this often. */
const ANNOUNCED_MS = 15_000;

function useAnnounced(isLive: boolean, newest: number): void {
  const told = useRef({ newest: 0, at: 0 });
  useEffect(() => {
    const last = told.current;
    const now = Date.now();
    if (!isLive || last.newest === 0) told.current = { newest, at: now };
    else if (newest > last.newest && now - last.at >= ANNOUNCED_MS) {
      announce(`New entries, up to ${newest}`);
      told.current = { newest, at: now };
    }
  }, [isLive, newest]);
}
