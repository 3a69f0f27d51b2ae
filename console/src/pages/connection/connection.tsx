import './connection.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';
import type { RunProgress } from '../../../../src/console-api/connections/runs.ts';
import { ENGINE_NAMES } from '../../../../src/vocabulary/engines.ts';
import { fleetStatus } from '../../../../src/vocabulary/score-bands.ts';
import { announce, notify, notifyFailure } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { Page } from '../../parts/page.tsx';
import { useRenewConnections } from '../../parts/renew-connections.ts';
import { InlineError, Loaded, Message } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time } from '../../parts/time.tsx';
import { useCan } from '../../shell/profile.ts';
import { Backups } from './backups.tsx';
import { Blocking, BlockingNow } from './blocking.tsx';
import { Changes } from './changes.tsx';
import { connectionQuery, silencesQuery } from './connection-query.ts';
import { type ConnectionSearch, openTab } from './connection-search.ts';
import { ConnectionTabs } from './connection-tabs.tsx';
import { ConnectionTags } from './connection-tags.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { Findings } from './findings.tsx';
import { Live } from './live.tsx';
import { Load } from './load.tsx';
import { Measures } from './measures.tsx';
import { Overview } from './overview.tsx';
import { Problems } from './problems.tsx';
import { Queries } from './queries/queries.tsx';
import { QueryPage } from './queries/query-page.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RunProgressBar } from './run-progress.tsx';
import { RunHistory } from './runs/run-history.tsx';
import { Settings } from './settings.tsx';
import { Silences } from './silences.tsx';
import { useConnectionSearch } from './use-connection-search.ts';
import { useRun } from './use-run.ts';

/** One connection, in tabs: its status, what happens now, findings, queries, charts, changes and settings. */
export function ConnectionPage() {
  const { id } = useParams({ from: '/in/connections/$id' });
  // The key resets all state when the connection changes: open dialogs and drafts are dropped.
  return <Connection id={id} key={id} />;
}

function Connection({ id }: { id: string }) {
  const can = useCan();
  const navigate = useNavigate();
  const [search, changeSearch] = useConnectionSearch();
  const query = useQuery(connectionQuery(id));
  const renew = useRenewConnections();
  const [isRemoving, setRemoving] = useState(false);
  const detail = query.data;
  const { run, isWatched, start } = useRun(id, detail?.running ?? false, (last) => {
    void renew();
    notifyEnd(last);
  });
  return (
    <Page
      actions={
        detail &&
        can('checks:run') &&
        detail.settings.interval_seconds !== null && (
          <Button
            icon="again"
            isPending={start.isPending || isWatched}
            kind="primary"
            onPress={() => start.mutate()}
          >
            {isWatched ? 'Checking' : 'Check now'}
          </Button>
        )
      }
      back={<Link to="/fleet">← Fleet</Link>}
      description={detail && <Where detail={detail} />}
      title={detail?.settings.name ?? 'Connection'}
    >
      <Loaded query={query}>
        {(loaded) => (
          <ChartGroup
            hasOneTable
            onSearch={({ range, from, to }) => changeSearch({ range, from, to })}
            search={search}
            since={findStart(loaded)}
          >
            <div className="connection-page">
              <ConnectionTags settings={loaded.settings} />
              <RunProgressBar error={start.error} isWatched={isWatched} run={run} />
              <ConnectionTabs engine={loaded.settings.engine} id={id} search={search} />
              <Tab
                actions={
                  can('connections:write') && (
                    <>
                      <Button icon="pen" onPress={() => changeSearch({ edit: 'settings' })}>
                        Edit
                      </Button>
                      <Button icon="bin" onPress={() => setRemoving(true)}>
                        Remove
                      </Button>
                    </>
                  )
                }
                detail={loaded}
                isWatched={isWatched}
                search={search}
              />
              {search.edit === 'settings' && can('connections:write') && (
                <EditDialog onClose={() => changeSearch({ edit: undefined })} settings={loaded.settings} />
              )}
              {isRemoving && (
                <RemoveDialog
                  onClose={() => setRemoving(false)}
                  onRemoved={() => {
                    notify('Connection removed');
                    void navigate({ to: '/fleet' });
                  }}
                  settings={loaded.settings}
                />
              )}
            </div>
          </ChartGroup>
        )}
      </Loaded>
    </Page>
  );
}

interface TabProps {
  search: ConnectionSearch;
  detail: ConnectionDetail;
  /** Whether a check runs that this page shows. */
  isWatched: boolean;
  /** What a member may do with the settings. */
  actions: ReactNode;
}

/** What the open tab shows. */
function Tab({ search, detail, isWatched, actions }: TabProps) {
  const { settings } = detail;
  const id = String(settings.id);
  switch (openTab(search)) {
    case 'overview':
      return <OverviewTab detail={detail} isWatched={isWatched} />;
    case 'now':
      return (
        <>
          <BlockingNow connectionId={id} />
          {settings.interval_seconds !== null && <Live connectionId={id} />}
          <Load connectionId={id} />
          <Blocking connectionId={id} />
        </>
      );
    case 'findings':
      return <FindingsTab detail={detail} isWatched={isWatched} />;
    case 'queries':
      return search.query === undefined ? (
        <Queries settings={settings} />
      ) : (
        <QueryPage database={search.database} detail={detail} query={search.query} role={search.role} />
      );
    case 'charts':
      return <Measures connectionId={id} />;
    case 'changes':
      return (
        <>
          <Changes connectionId={id} />
          <RunHistory connectionId={id} />
        </>
      );
    case 'settings':
      return (
        <>
          <Settings actions={actions} settings={settings} />
          <Backups connectionId={id} />
        </>
      );
  }
}

function OverviewTab({ detail, isWatched }: { detail: ConnectionDetail; isWatched: boolean }) {
  const id = String(detail.settings.id);
  return (
    <>
      <BlockingNow connectionId={id} />
      <Overview
        detail={detail}
        problems={
          detail.latest ? (
            <Problems connectionId={id} findings={detail.latest.findings} />
          ) : (
            <NoCheckYet detail={detail} isWatched={isWatched} />
          )
        }
      />
    </>
  );
}

function FindingsTab({ detail, isWatched }: { detail: ConnectionDetail; isWatched: boolean }) {
  const silences = useQuery(silencesQuery(String(detail.settings.id)));
  return (
    <>
      {detail.latest ? (
        <Findings
          findings={detail.latest.findings}
          settings={detail.settings}
          silences={silences.data?.data ?? []}
        />
      ) : (
        <NoCheckYet detail={detail} isWatched={isWatched} />
      )}
      {silences.error && <InlineError error={silences.error} />}
      <Silences silences={silences.data?.data ?? []} />
    </>
  );
}

function NoCheckYet({ detail: { settings }, isWatched }: { detail: ConnectionDetail; isWatched: boolean }) {
  return (
    <Message icon="clock" title="No check has run yet">
      {isWatched
        ? 'The first check is running.'
        : settings.interval_seconds === null
          ? 'Sample data is never checked.'
          : 'The first check runs as soon as a monitor is free.'}
    </Message>
  );
}

/** Since when it can have values; undefined if its history is older than the connection, as that of sample data may be. */
function findStart({ settings: { created_at }, history: [first] }: ConnectionDetail): string | undefined {
  return first && first.at < created_at ? undefined : created_at;
}

/** The connection's status, engine with its version, address and last check. */
function Where({ detail }: { detail: ConnectionDetail }) {
  const { settings, status, stale, server_version, last_checked_at } = detail;
  const { engine, host, port, connection_type, database, username } = settings;
  const place = connection_type === 'unix_socket' || host.includes(',') ? host : `${host}:${port}`;
  return (
    <span className="connection-place">
      <StatusMark status={stale ? 'stale' : status} />
      <span>
        {ENGINE_NAMES[engine]} {server_version}
      </span>
      <bdi className="mono">
        {username}@{place}
        {database && `/${database}`}
      </bdi>
      {last_checked_at && (
        <span>
          checked <Time at={last_checked_at} />
        </span>
      )}
    </span>
  );
}

function notifyScore(score: number): void {
  const status = fleetStatus(score);
  const text = `Check finished: score ${score}`;
  // A tick beside a score of 0 would read as good news.
  if (status === 'healthy') notify(text);
  else notifyFailure(`${text}, ${status}`);
}

function notifyEnd(run: RunProgress | null): void {
  if (run?.state === 'done' && run.score === null) notify('Check finished');
  if (run?.state === 'done' && run.score !== null) notifyScore(run.score);
  if (run?.state === 'failed') announce('The check failed');
}
