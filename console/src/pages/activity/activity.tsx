import './activity.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { apiUrl } from '../../api.ts';
import { announce } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { figure } from '../../parts/figure.ts';
import { Icon } from '../../parts/icons.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Page } from '../../parts/page.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { type ActivitySearch, filterQuery, isSearched } from './activity-search.ts';
import { EntryList } from './entry-list.tsx';
import { LogFilters } from './log-filters.tsx';
import { LogIntegrity } from './log-integrity.tsx';
import { SearchedLog } from './searched-log.tsx';
import { SingleEntry } from './single-entry.tsx';
import { useEntries } from './use-entries.ts';

/** The activity log: API requests, changes and health checks. */
export function ActivityPage() {
  const search = useSearch({ from: '/in/activity' });
  return (
    <Page
      actions={<Exports search={search} />}
      description="Every API request, change and health check, in order and without gaps."
      title="Activity"
    >
      {isSearched(search) ? (
        <>
          <LogFilters isDown={false} search={search} tailError={null} />
          <SearchedLog search={search} />
        </>
      ) : (
        <Log search={search} />
      )}
    </Page>
  );
}

const FORMATS = [
  ['csv', 'Export CSV'],
  ['ndjson', 'Export NDJSON'],
] as const;

/** Exports the filtered entries, oldest first. */
function Exports({ search }: { search: ActivitySearch }) {
  return FORMATS.map(([format, label]) => (
    <a
      className="button plain"
      download
      href={apiUrl('/activity/export', { ...filterQuery(search), format })}
      key={format}
    >
      <Icon name="download" />
      <span>{label}</span>
    </a>
  ));
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
              <LogIntegrity entries={entries} isFiltered={action_type !== undefined} />
              {open && !entries.some(({ id }) => String(id) === open) && <SingleEntry id={Number(open)} />}
              <EntryList entries={entries} isFiltered={action_type !== undefined} pages={list} open={open} />
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

/** Whether the page is scrolled down so far that new entries would move what the person reads. */
function useIsScrolledDown(): boolean {
  const [isDown, setDown] = useState(false);
  useEffect(() => {
    const look = () => setDown(scrollY > innerHeight / 2);
    look();
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  return isDown;
}
