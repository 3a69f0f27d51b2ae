import './activity.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { ActivityEntry } from '../../../../client/src/records.ts';
import { apiUrl, get } from '../../api.ts';
import { announce } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { rangeEnd, rangeStart } from '../../parts/day.ts';
import { DayRange } from '../../parts/day-range.tsx';
import { Select } from '../../parts/field.tsx';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { Icon } from '../../parts/icons.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Filters, Page, Section } from '../../parts/page.tsx';
import { Loaded, Message, NoPermission } from '../../parts/states.tsx';
import { useCan } from '../../shell/me.ts';
import { EntryList } from './entry-list.tsx';
import { ACTIONS, actionWord, entryJson } from './entry-words.ts';
import { LogState } from './log-state.tsx';
import type { ActivitySearch } from './search.ts';
import { useEntries } from './use-entries.ts';

/** Everything that was done in the account: requests by its keys, changes, health checks. */
export function ActivityPage() {
  const can = useCan();
  const search = useSearch({ from: '/in/activity' });
  return (
    <Page
      actions={can('activity:read') && <Export search={search} />}
      description="Every request by a key, every change and every health check, in order and without a gap."
      title="Activity"
    >
      {can('activity:read') ? <Log search={search} /> : <NoPermission permission="activity:read" />}
    </Page>
  );
}

/** What the filters choose, a JSON object a line, oldest first. */
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
  const isDown = useIsDown();
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
              Nothing of that kind was done at that time.
            </Message>
          ) : (
            <>
              <LogState entries={entries} isOfOneKind={action_type !== undefined} />
              {open && !entries.some(({ id }) => String(id) === open) && <EntryAlone id={open} />}
              <EntryList
                entries={entries}
                isOfOneKind={action_type !== undefined}
                onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
                open={open}
              />
              <p className="quiet small">
                {entries.length.toLocaleString('en')} of{' '}
                {Math.max(total, entries.length).toLocaleString('en')} entries
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

function LogFilters({ search: { action_type, from, to, live }, isDown, tailError }: LogFiltersProps) {
  const navigate = useNavigate({ from: '/activity' });
  const change = (changed: ActivitySearch) =>
    void navigate({ search: (old) => ({ ...old, entry: undefined, ...changed }), resetScroll: false });
  const kinds =
    action_type === undefined || ACTIONS.some(({ id }) => id === action_type)
      ? ACTIONS
      : [...ACTIONS, { id: action_type, label: actionWord(action_type) }];
  return (
    <Filters>
      <div className="kind-filter">
        <Select
          choices={[{ id: '', label: 'All kinds of action' }, ...kinds]}
          hideLabel
          label="Kind of action"
          onChange={(id) => change({ action_type: id || undefined })}
          value={action_type ?? ''}
        />
      </div>
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
              ? 'Waits while you read further down'
              : 'New entries come by themselves'}
        </span>
      )}
    </Filters>
  );
}

/** An entry that an address names and the list does not hold, or not yet. */
function EntryAlone({ id }: { id: string }) {
  const navigate = useNavigate({ from: '/activity' });
  const query = useQuery({
    queryKey: ['activity', 'one', id],
    queryFn: ({ signal }) =>
      get<{ data: ActivityEntry[] }>(
        '/read/activity',
        { order: 'asc', after_id: Number(id) - 1, per_page: 1 },
        signal,
      ),
  });
  const close = () => void navigate({ search: (old) => ({ ...old, entry: undefined }), resetScroll: false });
  return (
    <Section actions={<Button onPress={close}>Close</Button>} title={`Entry ${id}`}>
      <Loaded query={query}>
        {({ data: [entry] }) =>
          entry && String(entry.id) === id ? (
            <CodeBlock text={entryJson(entry)} what={`entry ${id}`} />
          ) : (
            <p>The log holds no entry {id}: it is not written yet, or older than what is kept.</p>
          )
        }
      </Loaded>
    </Section>
  );
}

/** Whether the page is scrolled so far down that entries above would push away what is read. */
function useIsDown(): boolean {
  return useSyncExternalStore(subscribeScroll, () => scrollY > innerHeight / 2);
}

function subscribeScroll(listener: () => void): () => void {
  addEventListener('scroll', listener, { passive: true });
  return () => removeEventListener('scroll', listener);
}

/** Tells screen readers of new entries, but not of each. */
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
