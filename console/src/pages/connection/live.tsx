import { useEffect, useState } from 'react';
import type { LiveEvent, LiveReading } from '../../../../src/console-api/live/live-schemas.ts';
import { apiUrl } from '../../api.ts';
import { LiveEpisode } from '../../episodes/episode-list.tsx';
import { Button } from '../../parts/button.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { InlineError } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { duration } from '../../parts/time.tsx';

type Group = LiveReading['sessions'][number];

/** What the sessions of a server do now, read every second while it is watched. Nobody's page reads a server unasked. */
export function Live({ connectionId }: { connectionId: string }) {
  const [isWatching, setWatching] = useState(false);
  const { event, hasFailed } = useLive(connectionId, isWatching);
  return (
    <Section
      actions={<Button onPress={() => setWatching(!isWatching)}>{isWatching ? 'Stop' : 'Watch live'}</Button>}
      description="The sessions of the server, read every second while you watch."
      title="Sessions"
    >
      {isWatching && event?.reason != null && <InlineError error={`Not read: ${event.reason}.`} />}
      {isWatching && !hasFailed && event === null && <p className="quiet">Connecting to the server…</p>}
      {isWatching && event?.reading && <Reading reading={event.reading} />}
      {isWatching && hasFailed && <p role="alert">The server can’t be watched now. Try again in a minute.</p>}
    </Section>
  );
}

/** The newest event of a watched server; `hasFailed` when the service ended the stream. */
function useLive(id: string, isWatching: boolean): { event: LiveEvent | null; hasFailed: boolean } {
  const [event, setEvent] = useState<LiveEvent | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (!isWatching) return;
    setEvent(null);
    setFailed(false);
    const source = new EventSource(apiUrl(`/connections/${encodeURIComponent(id)}/live`));
    source.onmessage = ({ data }: MessageEvent<string>) => {
      const told = JSON.parse(data) as LiveEvent;
      // What was read stays while a later look fails.
      setEvent((before) => (told.reading ? told : { ...told, reading: before?.reading ?? null }));
      if (told.ends) source.close();
    };
    // The browser reopens a broken stream, but not a refused one.
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) setFailed(true);
    };
    return () => source.close();
  }, [id, isWatching]);
  return { event, hasFailed };
}

function Reading({ reading }: { reading: LiveReading }) {
  const { connections_used, connections_allowed, active, idle_in_transaction, blocking, sessions } = reading;
  const oldest = reading.oldest_transaction_seconds;
  return (
    <div className="episodes">
      <Facts
        facts={[
          ['Connections', `${connections_used} of ${connections_allowed}`],
          ['Active', active],
          ['Idle in transaction', idle_in_transaction],
          ['Oldest transaction', oldest === null ? 'none' : duration(oldest)],
        ]}
      />
      {blocking.map(({ tree, ends }) => (
        <LiveEpisode ends={ends} key={tree.root?.pid ?? 'unknown'} tree={tree} />
      ))}
      <Table
        empty={<p className="quiet">No session is active.</p>}
        columns={COLUMNS}
        label="Sessions now"
        rowKey={groupKey}
        rows={sessions}
      />
    </div>
  );
}

function groupKey({ state, wait, event, query, role, application, database }: Group): string {
  return JSON.stringify([state, wait, event, query, role, application, database]);
}

const name = (text: string) =>
  text === '' ? <span className="quiet">–</span> : <bdi className="mono">{text}</bdi>;

const COLUMNS: readonly Column<Group>[] = [
  { header: 'Sessions', width: '5rem', align: 'end', cell: ({ count }) => count },
  {
    header: 'State',
    width: 'minmax(9rem, 1.5fr)',
    narrow: 'lead',
    cell: ({ state, wait, event }) =>
      state !== 'active' ? (
        state
      ) : wait === '' ? (
        'running'
      ) : (
        <>
          waits for <bdi>{event === '' ? wait : `${wait}: ${event}`}</bdi>
        </>
      ),
  },
  {
    header: 'Oldest',
    width: '5rem',
    align: 'end',
    cell: ({ seconds }) => duration(seconds),
  },
  { header: 'Role', width: 'minmax(5rem, 1fr)', cell: ({ role }) => name(role) },
  {
    header: 'Application',
    width: 'minmax(5rem, 1fr)',
    cell: ({ application }) => name(application),
  },
  { header: 'Database', width: 'minmax(5rem, 1fr)', cell: ({ database }) => name(database) },
  { header: 'Query', width: 'minmax(6rem, 1fr)', cell: ({ query }) => name(query.slice(0, 20)) },
];
